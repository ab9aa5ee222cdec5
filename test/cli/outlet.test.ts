import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutlet } from '../../src/cli/outlet.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
let reader: number;
let writer: number;
let errors: (string | undefined)[];
beforeEach(() => {
  temp = tempHome();
  errors = [];
  const fifo = join(temp.dir, 'pipe');
  execFileSync('mkfifo', [fifo]);
  reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  writer = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
});
afterEach(() => {
  for (const fd of [reader, writer]) if (fd >= 0) closeSync(fd);
  temp.remove();
});

/** An outlet to the pipe, and the stream that it makes when it needs one. */
function open() {
  const made: PassThrough[] = [];
  const stream = () => {
    const one = new PassThrough();
    made.push(one);
    // Of a stream to a terminal nothing more than a stream is used here.
    return one as unknown as WriteStream;
  };
  const onError = ({ code }: NodeJS.ErrnoException) => errors.push(code);
  return { made, outlet: createOutlet({ fd: writer, isTerminal: false, stream, onError }) };
}
/** What a stream has got: newer versions of Node give it buffer by buffer. */
const given = (made: PassThrough | undefined): string => {
  let text = '';
  for (let part = made?.read(); part !== null && part !== undefined; part = made?.read()) text += String(part);
  return text;
};
const inPipe = (): string => {
  const bytes = Buffer.alloc(65_536);
  return bytes.toString('utf8', 0, readSync(reader, bytes));
};

describe('an outlet to a pipe', () => {
  it('takes short texts without a stream', async () => {
    const { outlet, made } = open();
    await outlet.write('one\n');
    await outlet.write('zwölf\n');
    await outlet.write('');
    expect(inPipe()).toBe('one\nzwölf\n');
    expect(made).toHaveLength(0);
  });

  it('gives all that follows a long text to the stream, in its order', async () => {
    const { outlet, made } = open();
    await outlet.write('short ');
    await outlet.write('x'.repeat(4096));
    await outlet.write(' end');
    expect(inPipe()).toBe('short ');
    expect(given(made[0])).toBe(`${'x'.repeat(4096)} end`);
  });

  it('does not wait for a full pipe that somebody made not to be waited for', async () => {
    const full = () => {
      for (;;) writeSync(writer, Buffer.alloc(4096));
    };
    expect(full).toThrow('EAGAIN');
    const { outlet, made } = open();
    await outlet.write('late');
    expect(given(made[0])).toBe('late');
    expect(errors).toEqual([]);
  });

  it('tells of a reader that left, and resolves', async () => {
    closeSync(reader);
    reader = -1;
    const { outlet, made } = open();
    await outlet.write('nobody');
    expect(errors).toEqual(['EPIPE']);
    expect(made).toHaveLength(0);
  });
});
