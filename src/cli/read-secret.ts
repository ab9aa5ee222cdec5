import type { ReadStream } from 'node:tty';
import { RuntimeError } from '../schema/errors.ts';

/**
 * Reads a line from the terminal without showing it. A paste counts. @throws RuntimeError cancelled at Ctrl-C or the end of
 * the input
 */
export function readSecret(stream: ReadStream, ask: () => void): Promise<string> {
  ask();
  return new Promise((resolve, reject) => {
    let text = '';
    const leave = (): void => {
      stream.off('data', onData).off('end', onEnd);
      stream.setRawMode(false);
      stream.pause();
    };
    const onEnd = (): void => {
      leave();
      reject(new RuntimeError('cancelled', 'no password was given'));
    };
    const onData = (chunk: Buffer): void => {
      for (const character of chunk.toString('utf8')) {
        if (character === '\u0003' || character === '\u0004') {
          onEnd();
          return;
        }
        if (character === '\r' || character === '\n') {
          leave();
          resolve(text);
          return;
        }
        text = character === '\u007f' || character === '\b' ? [...text].slice(0, -1).join('') : text + character;
      }
    };
    stream.setRawMode(true);
    stream.resume();
    stream.on('data', onData).on('end', onEnd);
  });
}
