import type { CommandWord } from '../schema/command.ts';
import { substitutesIn } from './assigned.ts';
import type { Payload } from './payload.ts';

/** What a shell starts by its words. */

/** A file that is what somebody else writes. */
const descriptor = /^\/dev\/(stdin|fd\/[0-9]+)$|^\/proc\/(self|thread-self|[0-9]+)\/fd\/[0-9]+$/;

/** `-c` in any bundle; without it and without a script, standard input. */
export function shellPayload(name: string, rest: readonly CommandWord[]): readonly Payload[] {
  const first: Payload[] = [];
  let line = false;
  let input = false;
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at];
    if (word === undefined) break;
    const { text } = word;
    if (text === '--' || !/^(-.|\+)/.test(text)) {
      // Alone, the dash ends the options as two do.
      const from = /^--?$/.test(text) ? at + 1 : at;
      const found = rest[from];
      if (line) {
        const parameters = substitutesIn(rest.slice(from + 1));
        return found === undefined ? first : [...first, { kind: 'line', words: [found] }, ...parameters];
      }
      if (found === undefined || input) return [...first, { kind: 'input' }];
      return [...first, scriptPayload(found, rest.slice(from))];
    }
    // It may be the one that makes the next word a script.
    if (word.open) return [...first, { kind: 'unreadable', why: `the option ${text} of ${name}` }];
    const own = /^--(?:init-)?command=/.exec(text)?.[0];
    if (own !== undefined) first.push({ kind: 'line', words: [{ ...word, text: text.slice(own.length) }] });
    if (text.startsWith('--command=')) return first;
    if (text === '--init-command' || (name === 'fish' && text === '-C')) {
      const next = rest[at + 1];
      if (next !== undefined) first.push({ kind: 'line', words: [next] });
      at += 1;
    }
    if (/^--(rcfile|init-file)$/.test(text)) {
      const file = rest[at + 1];
      const read = file === undefined ? null : scriptPayload(file, [file]);
      if (read !== null) first.push(read.kind === 'words' ? { ...read, kind: 'script' } : read);
      at += 1;
    }
    if (/^[-+][A-Za-z]*[oO]$/.test(text)) at += 1;
    if (text === '--command' || /^-[A-Za-z]*c/.test(text)) line = true;
    if (/^-[A-Za-z]*s/.test(text)) input = true;
  }
  return line ? first : [...first, { kind: 'input' }];
}

/** The script of a shell may be a descriptor, what another command prints, or a file, which is looked up like a program. */
export function scriptPayload(script: CommandWord, words: readonly CommandWord[]): Payload {
  if (descriptor.test(script.text)) return { kind: 'input' };
  return script.open && script.text.startsWith('<(') ? { kind: 'line', words: [script] } : { kind: 'words', words };
}
