import { writeSync } from 'node:fs';
import type { ReadStream, WriteStream } from 'node:tty';
import { codeOf } from '../src/text/thrown.ts';
import { columnsOf } from '../src/view/wrap.ts';
import { takeCaret } from './caret.ts';
import type { Size } from './events.ts';
import { shiftBetween, shifted } from './shift.ts';

const esc = '\u001b[';
const wheelOn = `${esc}?1000h${esc}?1006h`;
const wheelOff = `${esc}?1000l${esc}?1002l${esc}?1003l${esc}?1006l`;
/** A terminal that knows the keyboard protocol says so in this time (10 §12.1). */
const answerMs = 100;

export type ScreenOptions = {
  readonly input: ReadStream;
  readonly output: WriteStream;
  /** Reports of the focus, for notifications. */
  readonly focus: boolean;
  /** Writes to the output, past whatever keeps others from it. @returns false when the terminal does not take more */
  write(text: string): boolean;
  /** Called around the time in which the terminal is held. */
  holds(held: boolean): void;
  bytes(chunk: Uint8Array): void;
  resized(size: Size): void;
  /** The terminal cannot be read or written any more. */
  gone(): void;
};

/** The terminal, held: nothing else writes to it between `enter` and `leave` (10 §12.1). */
export type Screen = {
  size(): Size;
  enter(): void;
  /** Puts everything back, synchronously; safe to call twice and from an exit handler. */
  leave(): void;
  /** As `leave`, until the next `enter`: the terminal is that of an editor, or of somebody who reads what was printed. */
  lend(to: Borrower): void;
  lent(): Borrower | null;
  held(): boolean;
  /** A whole frame; only the rows that changed are written. */
  paint(frame: string): void;
  /** The next frame is written whole. */
  forget(): void;
  title(text: string): void;
  /** Whether the wheel is reported, now and after a return; not from the start. */
  wheel(on: boolean): void;
  /** The terminal knows the keyboard protocol: it is used, if the answer came in time. */
  protocol(): void;
  /** Bytes of our own that draw nothing: the bell, a notification, the clipboard. */
  signal(bytes: string): void;
};

export type Borrower = 'editor' | 'reader';

/** A size that the terminal does not report counts as 80x24 (10 §1.3). */
const sizeOf = (output: WriteStream): Size => ({ columns: output.columns || 80, rows: output.rows || 24 });

export function createScreen(options: ScreenOptions): Screen {
  const { input, output } = options;
  let held = false;
  let lent: Borrower | null = null;
  let shown: string[] = [];
  let caret = '';
  let titled = '';
  let protocol = false;
  let wheel = false;
  let askedAt = 0;
  let blocked = false;
  let pending: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let firstResize = 0;

  const onData = (chunk: Buffer): void => options.bytes(chunk);
  const onGone = (): void => {
    if (held) options.gone();
  };
  const onResize = (): void => {
    clearTimeout(timer);
    firstResize ||= performance.now();
    const wait = performance.now() - firstResize > 150 ? 0 : 50;
    timer = setTimeout(() => {
      firstResize = 0;
      shown = [];
      options.resized(sizeOf(output));
    }, wait);
  };

  const write = (bytes: string): void => {
    blocked = !options.write(bytes);
    if (blocked) {
      output.once('drain', () => {
        blocked = false;
        const next = pending;
        pending = null;
        if (next !== null) paint(next);
      });
    }
  };

  const paint = (frame: string): void => {
    if (!held) return;
    // A terminal that does not take what is written gets the newest frame when it does.
    if (blocked) {
      pending = frame;
      return;
    }
    const taken = frame
      .split('\n')
      .slice(0, sizeOf(output).rows - 1)
      .map((row) => ({ row, caret: takeCaret(row) }));
    const rows = taken.map(({ row, caret: found }) => found?.row ?? row);
    const out: string[] = [];
    const whole = shown.length === 0;
    const shift = whole ? null : shiftBetween(shown, rows);
    if (shift !== null) {
      const { top, bottom, by } = shift;
      out.push(`${esc}${top + 1};${bottom + 1}r${esc}${Math.abs(by)}${by > 0 ? 'S' : 'T'}${esc}r`);
      shown = shifted(shown, shift);
    }
    for (let index = 0; index < Math.max(rows.length, shown.length); index += 1) {
      const row = rows[index] ?? '';
      if (!whole && shown[index] === row) continue;
      out.push(`${esc}${index + 1};1H${row}${esc}0m${esc}K`);
    }
    shown = rows;
    if (whole) out.push(`${esc}${rows.length + 1};1H${esc}K`);
    const at = taken.findIndex((each) => each.caret !== null);
    const before = taken[at]?.caret?.before;
    const place = before === undefined ? `${esc}?25l` : `${esc}${at + 1};${columnsOf(plainOf(before)) + 1}H${esc}?25h`;
    if (out.length === 0 && place === caret) return;
    caret = place;
    const hide = out.length > 0 ? `${esc}?25l` : '';
    write(`${esc}?2026h${hide}${out.join('')}${place}${esc}?2026l`);
  };

  const leave = (): void => {
    if (!held) return;
    held = false;
    clearTimeout(timer);
    firstResize = 0;
    for (const [event, listener] of [
      ['data', onData],
      ['end', onGone],
      ['error', onGone],
    ] as const) {
      input.off(event, listener);
    }
    output.off('resize', onResize);
    const bytes = [
      ...(protocol ? [`${esc}<u`] : []),
      wheelOff,
      `${esc}?1004l`,
      `${esc}?2004l`,
      `${esc}?2026l`,
      `${esc}0m${esc}?25h${esc}?1049l${esc}23;0t`,
    ].join('');
    for (const step of [
      () => writeWhole(output, bytes),
      () => input.setRawMode(false),
      () => input.pause(),
      () => options.holds(false),
    ]) {
      try {
        step();
      } catch {
        // The terminal may be gone: nobody is left to tell.
      }
    }
    protocol = false;
  };

  return {
    size: () => sizeOf(output),
    held: () => held,
    enter() {
      if (held) return;
      held = true;
      lent = null;
      shown = [];
      caret = '';
      titled = '';
      protocol = false;
      input.setRawMode(true);
      options.holds(true);
      input.on('data', onData);
      input.on('end', onGone);
      input.on('error', onGone);
      output.on('error', onGone);
      output.on('resize', onResize);
      input.resume();
      askedAt = performance.now();
      options.write(
        [
          `${esc}22;0t`,
          `${esc}?1049h`,
          `${esc}?2004h`,
          ...(options.focus ? [`${esc}?1004h`] : []),
          // A program that had the terminal meanwhile may have been killed in it.
          `${esc}0m${wheelOff}`,
          ...(wheel ? [wheelOn] : []),
          `${esc}?u`,
        ].join(''),
      );
    },
    lend(to) {
      leave();
      lent = to;
    },
    lent: () => lent,
    leave,
    paint,
    wheel(on) {
      if (held && on !== wheel) options.write(on ? wheelOn : wheelOff);
      wheel = on;
    },
    forget() {
      shown = [];
    },
    title(text) {
      if (!held || text === titled) return;
      titled = text;
      options.write(`\u001b]2;${text}\u0007`);
    },
    protocol() {
      if (!held || protocol || performance.now() - askedAt > answerMs) return;
      protocol = true;
      options.write(`${esc}>1u`);
    },
    signal(bytes) {
      if (held) options.write(bytes);
    },
  };
}

/** Streams of terminals have one; their type does not say so. */
const descriptorOf = (output: WriteStream): number => Number(Reflect.get(output, 'fd') ?? 1);

/** The descriptor may be non-blocking: what it does not take at once is written again, for a moment. */
function writeWhole(output: WriteStream, text: string): void {
  const bytes = Buffer.from(text);
  const until = performance.now() + 200;
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(descriptorOf(output), bytes, at);
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN' || performance.now() > until) throw error;
    }
  }
}

const plainOf = (row: string): string => row.replaceAll(/\u001b\[[\d;]*m/g, '');
