import { Transform } from 'node:stream';
import { countParts, quoteInexact } from '../../text/exact-json.ts';
import { maxMessageParts, tooLarge } from './pipe.ts';

/**
 * What a server may say of the time, in ms, after which a stream that broke is opened again (05 §10.4.4). The library takes
 * any: with none it would ask without a pause, and one that no timer holds is none.
 */
const shortestRetry = 100;
const longestRetry = 30_000;

/**
 * An event stream with its long integers as texts: the library parses the data of an event with numbers alone, which
 * would make another id of a long one. Whole lines are passed on; what is no data and no such time stays as it is, byte
 * for byte.
 */
export function exactEvents(): Transform {
  let held = '';
  let parts = 0;
  let endedInReturn = false;
  /** Of the event that the lines are of, which may be many. A string ends in its line, so each is counted by itself. */
  const tooMany = (text: string): boolean => {
    // A line feed that comes by itself may be the other half of a line end.
    const lines = (endedInReturn && text.startsWith('\n') ? text.slice(1) : text).split(/\r\n|\n|\r/);
    endedInReturn = text.endsWith('\r');
    // Behind the last line end nothing begins yet.
    lines.pop();
    for (const line of lines) {
      parts = line === '' ? 0 : parts + (line.startsWith(':') ? 0 : countParts(line, maxMessageParts));
      if (parts > maxMessageParts) return true;
    }
    return false;
  };
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
      if (tooMany(whole)) return done(tooLarge('parts'));
      held = text.slice(end);
      done(null, bytes(whole));
    },
    flush(done) {
      done(null, bytes(held));
    },
  });
}

/** A string of JSON ends in its line, so each line can be looked at by itself. */
function exactLines(text: string): string {
  const exact = /\d{16}/.test(text)
    ? text.replaceAll(/^data:.*$/gm, (line) => `data:${quoteInexact(line.slice(5))}`)
    : text;
  return exact.includes('retry:') ? exact.replaceAll(/^retry:.*$/gm, boundedRetry) : exact;
}

function boundedRetry(line: string): string {
  const ms = Number(line.slice('retry:'.length));
  return Number.isNaN(ms) ? line : `retry: ${Math.min(Math.max(ms, shortestRetry), longestRetry)}`;
}
