import type { CommandTables, OperandKind, OptionTable, OptionValue } from '../schema/command-tables.ts';
import type { CommandWord } from '../schema/command.ts';
import shippedTables from './command-tables.json' with { type: 'json' };

/** A word of a call that its program reads as more than an option. */
export type Operand = { readonly text: string; readonly kind: OperandKind };

/** What a table makes of the words behind a program; `failing` names the first option or operand that it does not list. */
export type Judged =
  | { readonly ok: true; readonly operands: readonly Operand[] }
  | { readonly ok: false; readonly failing: string };

// Its shape is held by a test: what JSON says of literals is wider than the type.
const shipped = shippedTables as CommandTables;

/** What the tools of GNU are called beside those of another system. */
const gnuName =
  /^g(ls|cat|head|tail|wc|pwd|echo|basename|dirname|true|false|printf|uname|whoami|id|hostname|e?grep|fgrep|stat|cut|diff|cmp|sort|uniq|date|sed|find|tar|tee|dd|install|du|df)$/;

/** The table of a program: the operator's own, else the shipped one, with all that it extends. */
export function tableOf(name: string, own: CommandTables | undefined): OptionTable | undefined {
  const table = writtenTable(name, own);
  if (table !== undefined) return extended(table, own, name);
  return gnuName.test(name) ? tableOf(name.slice(1), own) : undefined;
}

const writtenTable = (name: string, own: CommandTables | undefined): OptionTable | undefined =>
  [own, shipped].find((tables) => tables !== undefined && Object.hasOwn(tables.programs, name))?.programs[name];

const failing = (why: string): Judged => ({ ok: false, failing: why });

/** Judges the words behind a program by its table (02 §9.7). Linear in the words; never throws. */
export function judgeWords(table: OptionTable, words: readonly string[], own: CommandTables | undefined): Judged {
  if (table.grant === 'never') return failing('is never granted');
  if (table.subcommands === undefined) return judgePlain(table, words, own);
  const at = words.findIndex((word) => !word.startsWith('-') || word === '-');
  if (at === -1 && table.flags !== undefined && words.length > 0) return judgePlain(table, words, own);
  const before = at === -1 ? words : words.slice(0, at);
  const stray = before.find((word) => table.globals?.includes(word) !== true);
  if (stray !== undefined) return failing(`option ${stray}`);
  if (at === -1) return failing('has no subcommand');
  const name = words[at] ?? '';
  const subcommand = Object.hasOwn(table.subcommands, name) ? table.subcommands[name] : undefined;
  if (subcommand === undefined) return failing(`subcommand ${name}`);
  return judgeWords(extended(subcommand, own), words.slice(at + 1), own);
}

/** The operands of a command whose every word its table lists; null for any other, of which nothing is known. */
export function listedOperands(
  name: string,
  words: readonly CommandWord[],
  own: CommandTables | undefined,
): readonly Operand[] | null {
  const table = tableOf(name, own);
  if (table === undefined) return null;
  const texts = words.map(({ text }) => text);
  const judged = judgeWords(table, texts, own);
  return judged.ok ? judged.operands : null;
}

/** Longest chain of tables that extend each other. */
const maxExtended = 4;
const known = new WeakMap<CommandTables, Map<OptionTable, OptionTable>>();

/**
 * A table with what it takes from the one that it extends: what it says itself counts, options and subcommands of both.
 * One that extends its own name adds to the shipped table of that program (02 §9.7).
 */
function extended(table: OptionTable, own: CommandTables | undefined, name?: string, depth = 0): OptionTable {
  if (table.extends === undefined || depth > maxExtended) return table;
  const tables = known.get(own ?? shipped) ?? new Map<OptionTable, OptionTable>();
  known.set(own ?? shipped, tables);
  const old = tables.get(table);
  if (old !== undefined) return old;
  const others = table.extends === name ? undefined : own;
  const found = writtenTable(table.extends, others);
  const whole = found === undefined ? table : joined(extended(found, others, table.extends, depth + 1), table);
  tables.set(table, whole);
  return whole;
}

const nameOf = (value: OptionValue): string => (typeof value === 'string' ? value : value.name);

/** An option without a value may be one with a value in the other table: the later one says what it is. */
function joined(base: OptionTable, table: OptionTable): OptionTable {
  const { flags = [], values = [] } = table;
  const valued = values.map(nameOf);
  const inherited = {
    flags: base.flags?.filter((flag) => !valued.includes(flag)),
    values: base.values?.filter((value) => !flags.includes(nameOf(value)) && !valued.includes(nameOf(value))),
  };
  return {
    ...base,
    ...table,
    ...(inherited.flags === undefined ? {} : { flags: [...inherited.flags, ...flags] }),
    ...(inherited.values === undefined ? {} : { values: [...inherited.values, ...values] }),
    ...(base.subcommands === undefined ? {} : { subcommands: { ...base.subcommands, ...table.subcommands } }),
  };
}

/** The options of a table, by name. */
type Options = { readonly flags: ReadonlySet<string>; readonly values: ReadonlyMap<string, OptionValue> };

const listed = new WeakMap<OptionTable, Options>();

function optionsOf(table: OptionTable): Options {
  const options = listed.get(table) ?? {
    flags: new Set(table.flags),
    values: new Map((table.values ?? []).map((value) => [nameOf(value), value] as const)),
  };
  listed.set(table, options);
  return options;
}

/** What is gathered on the way through the words. */
type Reading = { readonly seen: Set<string>; readonly operands: string[]; readonly values: Operand[] };

function judgePlain(table: OptionTable, words: readonly string[], own: CommandTables | undefined): Judged {
  const options = optionsOf(table);
  const reading: Reading = { seen: new Set(), operands: [], values: [] };
  const [start] = words;
  if (table.first_word === 'option' && start !== undefined && !start.startsWith('-'))
    return failing(`operand ${start}`);
  const problem = readWords(table, options, words, reading, own);
  if (problem !== null) return failing(problem);
  if (table.required !== undefined && !table.required.some((name) => reading.seen.has(name))) {
    return failing(`option ${table.required[0]} is missing`);
  }
  return judgeOperands(table, reading, own);
}

function readWords(
  table: OptionTable,
  options: Options,
  words: readonly string[],
  reading: Reading,
  own: CommandTables | undefined,
): string | null {
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--' && table.style !== 'find') {
      reading.operands.push(...words.slice(at + 1));
      return null;
    }
    const option = word.startsWith('-') ? word !== '-' : table.style === 'find' && /^[!()]$/.test(word);
    if (!option || (table.no_option !== undefined && matches(table.no_option, word, own))) {
      reading.operands.push(word);
      continue;
    }
    const found = readOption(table, options, word, reading.seen);
    if (typeof found === 'string') return found;
    if (found.value === null) continue;
    const next = found.attached === null;
    const value = next ? words[at + 1] : (found.attached ?? undefined);
    // Not every program takes `--` for a value: as the end of the options it stands for itself (02 §9.7).
    if (value === undefined || (next && value === '--')) return `option ${word} without its value`;
    if (next) at += 1;
    const wrong = judgeValue(found.value, value, reading.values, own);
    if (wrong !== null) return `option ${word}${wrong}`;
  }
  return null;
}

type Found = {
  /** Null for an option without a value, and for an optional one that was left out. */
  readonly value: OptionValue | null;
  /** The attached value; null when it is the next word. */
  readonly attached: string | null;
};

const flag: Found = { value: null, attached: null };

/** A listed option, exactly as it is listed; a text names one that is not. */
function readOption(table: OptionTable, { flags, values }: Options, word: string, seen: Set<string>): Found | string {
  const use = (name: string, attached: string | null): Found => {
    seen.add(name);
    const value = values.get(name) ?? null;
    return value !== null && typeof value !== 'string' && value.optional === true && attached === null
      ? flag
      : { value, attached };
  };
  // A go flag may begin with two dashes.
  const exact = table.style === 'go' && word.startsWith('--') ? word.slice(1) : word;
  if (flags.has(exact)) return use(exact, null);
  if (values.has(exact)) return use(exact, null);
  if (table.numeric === true && /^-[0-9]+$/.test(word)) return flag;
  const equals = exact.indexOf('=');
  if (equals > 0 && (exact.startsWith('--') || table.style === 'go') && values.has(exact.slice(0, equals))) {
    return use(exact.slice(0, equals), exact.slice(equals + 1));
  }
  const bundles = !word.startsWith('--') && (table.style === undefined || table.style === 'posix');
  for (let at = 1; bundles && at < word.length; at += 1) {
    const letter = `-${word.charAt(at)}`;
    const attached = word.slice(at + 1);
    if (flags.has(letter)) {
      seen.add(letter);
      if (attached === '') return flag;
    } else if (values.has(letter)) {
      return use(letter, attached === '' ? null : attached);
    } else {
      break;
    }
  }
  return `option ${word}`;
}

/** What is wrong with a value, as the end of a sentence; a path, revision or address becomes an operand. */
function judgeValue(
  option: OptionValue,
  value: string,
  operands: Operand[],
  own: CommandTables | undefined,
): string | null {
  if (typeof option === 'string') return null;
  const { kind = 'text' } = option;
  if (option.deny_pattern !== undefined && holds(option.deny_pattern, value, own)) return ` with the value ${value}`;
  if (kind === 'enum') return option.values?.includes(value) === true ? null : ` with the value ${value}`;
  if (kind === 'int') return /^[+-]?[0-9]+$/.test(value) ? null : ` with the value ${value}`;
  if (kind !== 'text' && kind !== 'none') operands.push({ text: value, kind });
  return null;
}

function judgeOperands(
  table: OptionTable,
  { seen, operands, values }: Reading,
  own: CommandTables | undefined,
): Judged {
  const { operands: kind = 'text', max_operands: max = Number.POSITIVE_INFINITY } = table;
  const [first] = operands;
  const barred =
    kind === 'none' || (table.operands_need !== undefined && !table.operands_need.some((name) => seen.has(name)));
  if (barred && first !== undefined) return failing(`operand ${first}`);
  if (operands.length > max) return failing(`operand ${operands[max] ?? ''}`);
  const denied = operands.find((text) => table.deny_pattern !== undefined && holds(table.deny_pattern, text, own));
  if (denied !== undefined) return failing(`operand ${denied}`);
  const placed = operands[table.index ?? 0];
  if (table.pattern !== undefined && placed !== undefined && !matches(table.pattern, placed, own))
    return failing(`operand ${placed}`);
  const differs = table.first !== undefined && table.first_unless?.some((name) => seen.has(name)) !== true;
  const judged = operands.map((text, index) => ({ text, kind: index === 0 && differs ? (table.first ?? kind) : kind }));
  return { ok: true, operands: [...values, ...judged] };
}

const patterns = new Map<string, RegExp>();

/** What a shipped table says; a memo, since they are few and never change. */
function shippedPattern(source: string): RegExp {
  const old = patterns.get(source);
  const pattern = old ?? new RegExp(source, 's');
  if (old === undefined) patterns.set(source, pattern);
  return pattern;
}

/** Whether a text as a whole is what a `pattern` says. */
const matches = (source: string, text: string, own: CommandTables | undefined): boolean =>
  own?.patterns?.get(source)?.matchWhole(text) ?? shippedPattern(`^(?:${source})$`).test(text);

/** Whether a `deny_pattern` is found in a text, wherever it stands there. */
const holds = (source: string, text: string, own: CommandTables | undefined): boolean =>
  own?.patterns?.get(source)?.test(text) ?? shippedPattern(source).test(text);
