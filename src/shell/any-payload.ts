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
  const { from, operands: most, named } = startOf(all, known);
  if (from > all.length) return [];
  // Each of them has all of the words behind it.
  const beginnings = Math.max(12, Math.min(maxBeginnings, Math.floor(maxWords / Math.max(all.length, 1))));
  const payloads: Payload[] = [];
  // Some programs with subcommands take the command from behind `--`, whatever stands before it.
  const end = known.subcommands.length === 0 ? -1 : all.findIndex(({ text }, at) => at >= from && text === '--');
  let operands = 0;
  /** A word that may belong to the option before it may be an operand as well. */
  let doubted = false;
  let value: Value = 'no';
  /** Behind `--` what looks like an option may be a word. */
  let ended = false;
  for (const [index, word] of all.entries()) {
    const mine: Value = value;
    value = mine === 'yes' ? 'no' : valueBehind(word.text, ended ? 'perhaps' : mine, known);
    if (ended && index >= from && word.text.startsWith('-')) doubted = true;
    ended ||= word.text === '--';
    if (mine === 'yes' || word.text === '--' || known.subcommands.includes(word.text)) continue;
    const sure = mine === 'no' && !word.open && !/^(?:[-+]|\w+=)/.test(word.text);
    // Before the word that says that something is started there are other words of its own, and options.
    if (index < from && sure) continue;
    const behindEnd = all[index - 1]?.text === '--';
    const last = sure && index > end && (operands >= most || (named && behindEnd && operands > 0));
    const isName = sure && !last && named && !doubted && !behindEnd;
    if (sure) operands += 1;
    else if (index >= from && !word.text.startsWith('-')) doubted = true;
    if (isName) continue;
    const payload = beginning(word, all.slice(index));
    if (payload !== null && payloads.length >= beginnings) {
      return [...payloads, { kind: 'unreadable', why: `a launcher with more than ${beginnings} words` }];
    }
    if (payload !== null) payloads.push(payload);
    if (last) break;
  }
  return payloads;
}

/**
 * Whether such a launcher may be given no command: then it is a shell, which reads what it is given. A word behind an option
 * may be its value.
 */
export function opensShell(words: readonly CommandWord[], { shell, opens, operands }: Launcher): boolean {
  if (!shell || words.some(({ text }) => /^(?:-c|--run|--command)(?:=|$)/.test(text))) return false;
  const at = words.findIndex(({ text }) => opens.includes(text));
  if (opens.length > 0 && at === -1) return false;
  const own = words.slice(at + 1).filter(({ text }, index) => {
    const before = words[at + index]?.text ?? '';
    return !text.startsWith('-') && (index === 0 || !before.startsWith('-'));
  });
  return own.length <= (Number.isFinite(operands) ? operands : 1);
}

type Start = Pick<Known, 'operands' | 'named'> & { readonly from: number };

/** Behind the first word that says that something is started; behind all of them where none does, at the begin where one may. */
function startOf(words: readonly CommandWord[], { subcommands, behind, values, operands, named }: Known): Start {
  const marks = [...subcommands, ...behind];
  if (marks.length === 0) return { from: 0, operands, named };
  const at = words.findIndex(
    ({ text, open, filled }, index) =>
      open || filled === true || (marks.includes(text) && !values.includes(words[index - 1]?.text ?? '')),
  );
  if (at === -1) return { from: words.length + 1, operands, named };
  if (marks.includes(words[at]?.text ?? '')) return { from: at + 1, operands, named };
  return { from: 0, operands: unknown.operands, named: false };
}

/** Whether a word belongs to the option before it. */
type Value = 'yes' | 'no' | 'perhaps';

/** What is told of the word behind this one; `mine`: of this one, which is no option where it is a value. */
function valueBehind(option: string, mine: Value, known: Pick<Known, 'flags' | 'values'>): Value {
  const value = takesValue(option, known);
  return value === 'yes' && mine === 'perhaps' ? 'perhaps' : value;
}

function takesValue(option: string, { flags, values }: Pick<Known, 'flags' | 'values'>): Value {
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
