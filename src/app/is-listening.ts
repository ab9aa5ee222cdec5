import { connect } from 'node:net';

/** A program on this machine answers at once. */
const waitMs = 250;

/**
 * Whether a program takes connections at this port of this machine. @param host where a server would listen: an address that
 * stands for all of them is looked at on loopback
 */
export function isListening(host: string, port: number): Promise<boolean> {
  const everywhere: Readonly<Record<string, string>> = { '': '127.0.0.1', '0.0.0.0': '127.0.0.1', '::': '::1' };
  return new Promise((resolve) => {
    const socket = connect({ host: everywhere[host] ?? host, port, timeout: waitMs });
    const tell = (listens: boolean): void => {
      socket.destroy();
      resolve(listens);
    };
    socket.once('connect', () => tell(true));
    socket.once('timeout', () => tell(false));
    socket.once('error', () => tell(false));
  });
}
