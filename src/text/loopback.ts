/** Whether the host of a URL, as URLs write it, is this machine itself. `127.example.com` is a name like any other. */
export const isLoopbackHost = (hostname: string): boolean =>
  /^(?:localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]+\])$/i.test(hostname);
