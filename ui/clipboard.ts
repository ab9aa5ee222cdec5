import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ulid } from '../src/text/ids.ts';
import { escapeText, hiddenCharacters } from '../src/view/escape.ts';

/** Longest text that terminals take by OSC 52. */
const longest = 74_994;

export type Copied = { readonly bytes: string | null; readonly said: string };

/**
 * The way of a text to the clipboard: a sequence for the terminal, or a private file where it is too long or not wanted
 * (10 §5.7). The text is the original one; hidden characters in it are said.
 */
export function copyText(text: string, way: 'osc52' | 'file', inTmux: boolean, now: number): Copied {
  const lines = text.replaceAll('\r\n', '\n');
  const hidden = hiddenCharacters(lines);
  // What is copied is the text as it came, not as it was read on the screen (10 §4.1.6).
  const escaped = escapeText(lines, { mode: 'prose' }) !== lines;
  const warning =
    hidden.length > 0
      ? `; it holds hidden characters: ${hidden.slice(0, 3).join(', ')}`
      : escaped
        ? '; it holds characters that are shown escaped'
        : '';
  const size = Buffer.byteLength(text);
  if (way === 'osc52' && size <= longest) {
    const sequence = `\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`;
    const bytes = inTmux ? `\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}\u001b\\` : sequence;
    return { bytes, said: `copied ${size} bytes${warning}` };
  }
  const path = join(mkdtempSync(join(tmpdir(), 'reins-copy-')), `reins-copy-${ulid(now).slice(-8)}.txt`);
  writeFileSync(path, text, { mode: 0o600 });
  return { bytes: null, said: `written to ${path}${warning}` };
}
