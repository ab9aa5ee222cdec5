import { Transform } from 'node:stream';
import { quoteInexact } from '../../text/exact-json.ts';

/**
 * An event stream with its long integers as texts: the library parses the data of an event with numbers alone, which
 * would make another id of a long one. Whole lines are passed on; what is no data stays as it is, byte for byte.
 */
export function exactEvents(): Transform {
  let held = '';
  // Each byte is a character: what is looked for is ASCII.
  const bytes = (text: string): Buffer => Buffer.from(exactLines(text), 'latin1');
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const text = chunk.toString('latin1');
      const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
      if (end === 0) {
        held += text;
        return done();
      }
      const whole = held + text.slice(0, end);
      held = text.slice(end);
      done(null, bytes(whole));
    },
    flush(done) {
      done(null, bytes(held));
    },
  });
}

/** A string of JSON ends in its line, so each line can be looked at by itself. */
const exactLines = (text: string): string =>
  /\d{16}/.test(text) ? text.replaceAll(/^data:.*$/gm, (line) => `data:${quoteInexact(line.slice(5))}`) : text;
