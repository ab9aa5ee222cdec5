import type { InputEvent } from './decoder.ts';
import type { Key } from './key.ts';

/** What comes this soon after a burst, or after a line that came whole, belongs to it. */
const quietMs = 30;
/** Fewer keys than these, and what comes behind a first Enter, may have been typed while this program was busy. */
const fewest = 6;
/** Characters that are held at most, as for a paste that the terminal marks. */
const longest = 8 * 1024 * 1024;

export type Bursts = {
  /** @param events of one read of the terminal */
  take(events: readonly InputEvent[], now: number): readonly InputEvent[];
  /** What time has made certain. */
  tick(now: number): readonly InputEvent[];
  /** When `tick` has something to say; null = nothing is held. */
  wakeAt(): number | null;
};

/**
 * Tells a paste from typing where the terminal does not mark it: nobody writes on behind the end of a line within one
 * read. Such a run of characters is one paste, which sends, runs and answers nothing (10 §6.2).
 */
export function createBursts(): Bursts {
  /** Characters that were read and not told yet. */
  let held: Written[] = [];
  /** There is the end of a line among them. */
  let ended = false;
  /** The text of a burst that goes on. */
  let burst: string | null = null;
  let since = 0;

  const finish = (): readonly InputEvent[] => {
    const done: readonly InputEvent[] = burst === null ? held : [pasteOf(burst)];
    held = [];
    ended = false;
    burst = null;
    return done;
  };
  const add = (event: Written): void => {
    const text = textOf(event);
    if (burst !== null) {
      if (burst.length <= longest) burst += text;
      return;
    }
    held.push(event);
    if (isEnd(text)) ended = true;
    if (!ended || isEnd(text)) return;
    if (held.length < fewest || isEnd(textOf(held[0]))) return;
    burst = held.map(textOf).join('');
    held = [];
  };

  return {
    take(events, now) {
      const told: InputEvent[] = [];
      for (const event of events) {
        if (isWritten(event)) add(event);
        else told.push(...finish(), event);
      }
      since = now;
      // One key is typed; a whole line in one read may be the first of several.
      const isLine = held.length > 2 && ended;
      return burst !== null || isLine ? told : [...told, ...finish()];
    },
    tick: (now) => (now - since < quietMs ? [] : finish()),
    wakeAt: () => (burst === null && held.length === 0 ? null : since + quietMs),
  };
}

const pasteOf = (text: string): InputEvent => ({
  type: 'paste',
  text: text.slice(0, longest).replaceAll(/\r\n?/g, '\n'),
  tooLong: text.length > longest,
});

const isEnd = (text: string): boolean => text === '\r' || text === '\n';

type Written = Extract<InputEvent, { type: 'key' }>;

const isWritten = (event: InputEvent): event is Written => event.type === 'key' && written(event) !== null;
const textOf = (event: Key | undefined): string => (event === undefined ? '' : (written(event) ?? ''));

/** The text that a key stands for where it was pasted; null = none. */
function written({ name, ctrl, alt, shift, text }: Key): string | null {
  if (text !== '') return text;
  if (alt || shift) return null;
  if (ctrl) return name === 'j' ? '\n' : null;
  return name === 'enter' ? '\r' : name === 'tab' ? '\t' : null;
}
