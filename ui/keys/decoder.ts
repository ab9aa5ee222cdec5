import type { Key } from './key.ts';
import { csiKey, ss3Key } from './sequences.ts';
import { createPasteReader, type PasteReader } from './paste.ts';

/** What the bytes of a terminal mean (10 §12.3). */
export type InputEvent =
  | ({ readonly type: 'key' } & Key)
  /** Line ends are `\n`. `tooLong`: what came behind the limit is not in it. */
  | { readonly type: 'paste'; readonly text: string; readonly tooLong: boolean }
  | { readonly type: 'focus' }
  | { readonly type: 'blur' }
  | { readonly type: 'mouse'; readonly wheel: 'up' | 'down' }
  /** The terminal knows the keyboard protocol and said so. */
  | { readonly type: 'protocol' };

export type InputDecoder = {
  /** Takes bytes as they came, cut anywhere. @param now milliseconds of any steady clock */
  push(bytes: Uint8Array, now: number): readonly InputEvent[];
  /** What time has made certain: a lone ESC is the key, a paste without an end is over. */
  tick(now: number): readonly InputEvent[];
  /** When `tick` has something to say; null = nothing is open. */
  wakeAt(): number | null;
};

/** A lone ESC counts as the key after this time; a sequence that never ends is dropped after the other. */
const escapeMs = 50;
const brokenMs = 500;
const pasteMs = 1000;
/** Longest string sequence (OSC, DCS) that is waited for. */
const longest = 65_536;

const ESC = 0x1b;
const BEL = 0x07;

/** The reader of one terminal. Holds at most one unfinished sequence, character or paste. */
export function createInputDecoder(): InputDecoder {
  let held: number[] = [];
  let paste: PasteReader | null = null;
  let since = 0;

  const take = (bytes: readonly number[] | Uint8Array, now: number): InputEvent[] => {
    const events: InputEvent[] = [];
    let rest = bytes;
    while (rest.length > 0) {
      if (paste !== null) {
        const read = paste.push(rest);
        since = now;
        if (read === null) return events;
        events.push(...finishPaste());
        rest = read;
        continue;
      }
      const all = held.length === 0 ? rest : Uint8Array.from([...held, ...rest]);
      held = [];
      const stopped = parse(all, events);
      rest = stopped;
      if (paste === null && stopped.length > 0) {
        held = [...stopped];
        since = now;
        return events;
      }
    }
    return events;
  };

  const finishPaste = (): readonly InputEvent[] => {
    const done = paste?.end();
    paste = null;
    if (done === undefined) return [];
    const reports = done.reports.flatMap(({ body, final }) => report(body, final) ?? []);
    return [{ type: 'paste', text: done.text, tooLong: done.tooLong }, ...reports];
  };

  /** @returns what is not complete yet, or what stands behind the start of a paste */
  const parse = (bytes: readonly number[] | Uint8Array, events: InputEvent[]): readonly number[] | Uint8Array => {
    let at = 0;
    while (at < bytes.length) {
      const read = one(bytes, at);
      if (read === 'more') return bytes.slice(at);
      at = read.next;
      if (read.paste === true) {
        paste = createPasteReader();
        return bytes.slice(at);
      }
      if (read.event !== null) events.push(read.event);
    }
    return [];
  };

  return {
    push: (bytes, now) => {
      const late = held.length > 0 || paste !== null ? expired(now) : [];
      return [...late, ...take(bytes, now)];
    },
    tick: (now) => expired(now),
    wakeAt: () => {
      if (paste !== null) return since + pasteMs;
      if (held.length === 0) return null;
      return since + (held.length === 1 && held[0] === ESC ? escapeMs : brokenMs);
    },
  };

  function expired(now: number): readonly InputEvent[] {
    if (paste !== null) return now - since >= pasteMs ? finishPaste() : [];
    if (held.length === 0) return [];
    const lone = held.length === 1 && held[0] === ESC;
    if (now - since < (lone ? escapeMs : brokenMs)) return [];
    held = [];
    return lone ? [{ type: 'key', ...named('escape') }] : [];
  }
}

type Read = 'more' | { readonly next: number; readonly event: InputEvent | null; readonly paste?: true };

const named = (name: string, ctrl = false): Key => ({ name, ctrl, alt: false, shift: false, text: '' });
const key = (key: Key, next: number): Read => ({ next, event: { type: 'key', ...key } });

/** One key, sequence or character that begins at a place. */
function one(bytes: readonly number[] | Uint8Array, at: number): Read {
  const first = bytes[at] ?? 0;
  if (first === ESC) return escapeSequence(bytes, at);
  if (first < 0x20 || first === 0x7f) return key(control(first), at + 1);
  return character(bytes, at, false);
}

/** The keys behind the control characters. Ctrl+H and Backspace are told apart by no terminal. */
function control(byte: number): Key {
  if (byte === 0x0d) return named('enter');
  if (byte === 0x09) return named('tab');
  if (byte === 0x08 || byte === 0x7f) return named('backspace');
  if (byte === 0x00) return named('space', true);
  return named(byte <= 0x1a ? String.fromCharCode(byte + 0x60) : String.fromCharCode(byte + 0x40), true);
}

function character(bytes: readonly number[] | Uint8Array, at: number, alt: boolean): Read {
  const first = bytes[at] ?? 0;
  const length = first < 0x80 ? 1 : first >= 0xf0 && first < 0xf8 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  let end = at + 1;
  while (end < at + length && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end += 1;
  if (end < at + length && end === bytes.length) return 'more';
  const text = Buffer.from(bytes.slice(at, end)).toString('utf8');
  // Bytes that are no UTF-8, and control characters of the upper half, type nothing.
  if (text.includes('\ufffd') || /^[\u0080-\u009f]$/.test(text)) return { next: end, event: null };
  const name = text === ' ' ? 'space' : text;
  return key({ name, ctrl: false, alt, shift: false, text: alt ? '' : text }, end);
}

function escapeSequence(bytes: readonly number[] | Uint8Array, at: number): Read {
  const second = bytes[at + 1];
  if (second === undefined) return 'more';
  if (second === ESC) return key(named('escape'), at + 1);
  if (second === 0x5b) return csi(bytes, at);
  if (second === 0x4f) {
    const third = bytes[at + 2];
    if (third === undefined) return 'more';
    const found = ss3Key(String.fromCharCode(third));
    return { next: at + 3, event: found === null ? null : { type: 'key', ...found } };
  }
  // OSC, DCS, APC, PM and SOS are answers to questions or attacks: never typed.
  if (second === 0x5d || second === 0x50 || second === 0x5f || second === 0x5e || second === 0x58)
    return stringSequence(bytes, at);
  if (second < 0x20 || second === 0x7f) return key({ ...control(second), alt: true }, at + 2);
  return character(bytes, at + 1, true);
}

function stringSequence(bytes: readonly number[] | Uint8Array, at: number): Read {
  for (let end = at + 2; end < bytes.length; end += 1) {
    if (bytes[end] === BEL) return { next: end + 1, event: null };
    if (bytes[end] === ESC) {
      if (bytes[end + 1] === undefined) return 'more';
      return { next: bytes[end + 1] === 0x5c ? end + 2 : end, event: null };
    }
    if (end - at > longest) return { next: end, event: null };
  }
  return 'more';
}

function csi(bytes: readonly number[] | Uint8Array, at: number): Read {
  let end = at + 2;
  // A key of the Linux console: CSI [ A is F1.
  if (bytes[end] === 0x5b) {
    const letter = bytes[end + 1];
    if (letter === undefined) return 'more';
    const index = letter - 0x40;
    const found = index >= 1 && index <= 5 ? named(`f${index}`) : null;
    return { next: end + 2, event: found === null ? null : { type: 'key', ...found } };
  }
  while (end < bytes.length && (bytes[end] ?? 0) >= 0x20 && (bytes[end] ?? 0) <= 0x3f) {
    if (end - at > 256) return { next: end, event: null };
    end += 1;
  }
  const last = bytes[end];
  if (last === undefined) return 'more';
  // A byte that no sequence holds ends it; what it begins is read by itself.
  if (last < 0x40 || last > 0x7e) return { next: end, event: null };
  const body = String.fromCharCode(...bytes.slice(at + 2, end));
  const final = String.fromCharCode(last);
  // Mouse reports of the oldest kind carry three bytes behind their end.
  if (final === 'M' && body === '') return bytes.length < end + 4 ? 'more' : { next: end + 4, event: null };
  if (final === '~' && body === '200') return { next: end + 1, event: null, paste: true };
  return { next: end + 1, event: report(body, final) ?? keyEvent(body, final) };
}

/** What a terminal reports about itself. */
function report(body: string, final: string): InputEvent | null {
  if (body === '' && final === 'I') return { type: 'focus' };
  if (body === '' && final === 'O') return { type: 'blur' };
  if (final === 'u' && body.startsWith('?')) return { type: 'protocol' };
  const wheel = final === 'M' ? /^<(6[45]);/.exec(body)?.[1] : undefined;
  return wheel === undefined ? null : { type: 'mouse', wheel: wheel === '64' ? 'up' : 'down' };
}

function keyEvent(body: string, final: string): InputEvent | null {
  const found = csiKey(body, final);
  return found === null ? null : { type: 'key', ...found };
}
