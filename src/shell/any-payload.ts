import type { CommandWord } from '../schema/command.ts';
import type { Payload } from './payload.ts';

/** How many words of a launcher are looked at whose options are not known. */
export const maxBeginnings = 12;

/** Each word as the beginning of a command, and each that holds blanks as a line; also behind the `=` of an option. */
export function anyPayloads(rest: readonly CommandWord[], own: readonly string[] = []): readonly Payload[] {
  return rest.slice(0, maxBeginnings).flatMap((word, index): readonly Payload[] => {
    // `socat EXEC:cmd,pty`
    const address = /^(?:exec|system|shell):([^,]*)/i.exec(word.text)?.[1];
    if (address !== undefined) return [{ kind: 'line', words: [{ ...word, text: address }] }];
    const text = word.text.startsWith('-') ? word.text.replace(/^-[^=]*=?/, '') : word.text;
    if (/[ \t\n]/.test(text)) return [{ kind: 'line', words: [{ ...word, text }] }];
    return word.text.startsWith('-') || own.includes(word.text) ? [] : [{ kind: 'words', words: rest.slice(index) }];
  });
}
