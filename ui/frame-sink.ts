import type { Size } from './events.ts';

/**
 * Where Ink writes: each frame whole, which the screen compares with the one before by itself. Ink's own way of writing
 * moves the cursor from where it thinks that it is, and clears the screen when a frame is as high as the terminal.
 */
export function frameSink(size: () => Size, paint: (frame: string) => void) {
  const nothing = () => sink;
  const sink = {
    get columns() {
      return size().columns;
    },
    get rows() {
      return size().rows;
    },
    isTTY: false,
    write: (frame: string) => {
      paint(frame);
      return true;
    },
    on: nothing,
    off: nothing,
    once: nothing,
    removeListener: nothing,
    addListener: nothing,
  };
  // Ink uses no more of a stream than this.
  const stdout = sink as unknown as NodeJS.WriteStream;
  const stdin = { ...sink, setRawMode: nothing, ref: nothing, unref: nothing, setEncoding: nothing, read: () => null };
  return {
    stdout,
    stderr: stdout,
    stdin: stdin as unknown as NodeJS.ReadStream,
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
  };
}
