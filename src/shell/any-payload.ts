import type { CommandWord } from '../schema/command.ts';
import { type Launcher, maxBeginnings } from './launcher.ts';
import type { Payload } from './payload.ts';

/** Most words of all that may be commands together, where there are many. */
const maxWords = 48_000;

type Known = Pick<Launcher, 'subcommands' | 'behind' | 'flags' | 'values' | 'operands' | 'named'>;

const unknown: Known = {
  subcommands: [],
  behind: [],
  flags: [],
  values: [],
  operands: Number.POSITIVE_INFINITY,
  named: false,
};

/**
 * What a launcher starts of whose options not all are known: each word as the beginning of a command, and each that holds
 * blanks as a line, also behind the `=` of an option. It ends with the word that surely begins it.
 */
export function anyPayloads(all: readonly CommandWord[], known: Known = unknown): readonly Payload[] {
  const { rest, operands: most, named } = startedWords(all, known);
  const payloads: Payload[] = [];
  // Each of them has all of the words behind it.
  const beginnings = Math.max(12, Math.min(maxBeginnings, Math.floor(maxWords / rest.length)));
  let operands = 0;
  /** A word that may belong to the option before it may be an operand as well. */
  let doubted = false;
  for (const [index, word] of rest.entries()) {
    const before = rest[index - 1]?.text ?? '';
    const value = takesValue(before, known);
    const own = known.subcommands.includes(word.text);
    if (word.text === '--' || own || value === 'yes') continue;
    const sure = !word.open && !/^(?:-|\w+=)/.test(word.text) && value === 'no';
    const last = sure && (operands >= most || (named && before === '--' && operands > 0));
    const isName = sure && !last && named && !doubted && before !== '--';
    if (sure) operands += 1;
    else if (!word.text.startsWith('-')) doubted = true;
    if (isName) continue;
    const payload = beginning(word, rest.slice(index));
    if (payload !== null && payloads.length >= beginnings) {
      return [...payloads, { kind: 'unreadable', why: `a launcher with more than ${beginnings} words` }];
    }
    if (payload !== null) payloads.push(payload);
    if (last) break;
  }
  return payloads;
}

type Started = Pick<Known, 'operands' | 'named'> & { readonly rest: readonly CommandWord[] };

/** Behind the first word that says that something is started; nothing where none does, all where one may. */
function startedWords(rest: readonly CommandWord[], { subcommands, behind, operands, named }: Known): Started {
  const marks = [...subcommands, ...behind];
  if (marks.length === 0) return { rest, operands, named };
  const at = rest.findIndex(({ text, open, filled }) => open || filled === true || marks.includes(text));
  if (at === -1) return { rest: [], operands, named };
  if (marks.includes(rest[at]?.text ?? '')) return { rest: rest.slice(at + 1), operands, named };
  return { rest, operands: unknown.operands, named: false };
}

/** Whether the word behind this one belongs to it. */
function takesValue(option: string, { flags, values }: Pick<Known, 'flags' | 'values'>): 'yes' | 'no' | 'perhaps' {
  if (!option.startsWith('-') || option === '-' || option === '--' || option.includes('=')) return 'no';
  if (values.includes(option)) return 'yes';
  const letters = /^-[A-Za-z]+$/.test(option) ? [...option.slice(1)].map((letter) => `-${letter}`) : [option];
  if (letters.length > 1 && values.includes(letters.at(-1) ?? '')) return 'yes';
  return letters.every((letter) => flags.includes(letter)) ? 'no' : 'perhaps';
}

function beginning(word: CommandWord, from: readonly CommandWord[]): Payload | null {
  // `socat EXEC:cmd,pty`
  const address = /^(?:exec|system|shell):([^,]*)/i.exec(word.text)?.[1];
  if (address !== undefined) return { kind: 'line', words: [{ ...word, text: address }] };
  const text = word.text.startsWith('-') ? word.text.replace(/^-[^=]*=?/, '') : word.text;
  if (/[ \t\n]/.test(text)) return { kind: 'line', words: [{ ...word, text }] };
  return word.text.startsWith('-') ? null : { kind: 'words', words: from };
}
