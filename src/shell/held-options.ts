import type { CommandWord } from '../schema/command.ts';
import { splitWords } from '../text/posix-words.ts';
import { linesInCode } from './code-lines.ts';
import { maxBeginnings } from './launcher.ts';
import { lineOptions } from './line-options.ts';
import { namedLines } from './named-options.ts';
import { linesOfJava, runtimeLines } from './runtime-options.ts';
import { literalWord } from './words.ts';

/** Variables from which a program takes options or code of its own, whatever starts it. */
const holders: Readonly<Record<string, string>> = {
  NODE_OPTIONS: 'node',
  PERL5OPT: 'perl',
  PERL5DB: 'perl',
  RUBYOPT: 'ruby',
  LUA_INIT: 'lua',
  MAKEFLAGS: 'make',
  GNUMAKEFLAGS: 'make',
  MFLAGS: 'make',
  VIMINIT: 'vim',
  EXINIT: 'vim',
  LESS: 'less',
  MORE: 'more',
  TAR_OPTIONS: 'tar',
  PARALLEL: 'parallel',
  ZIPOPT: 'zip',
  MANOPT: 'man',
  FZF_DEFAULT_OPTS: 'fzf',
  ERL_FLAGS: 'erl',
  ERL_AFLAGS: 'erl',
  ERL_ZFLAGS: 'erl',
  ELIXIR_ERL_OPTIONS: 'erl',
  GOFLAGS: 'go',
  RUSTFLAGS: 'rustc',
  RUSTDOCFLAGS: 'rustc',
};

/** The program that reads a variable as words of its own; null for any other variable. */
const holderOf = (name: string): string | null => {
  const plain = name.replace(/^(LUA_INIT)_[0-9]+_[0-9]+$/, '$1');
  return Object.hasOwn(holders, plain) ? (holders[plain] ?? null) : null;
};

/**
 * What a program would start by a value that it reads as its options. The program itself is not named: it may be started
 * or not, and a rule on it is a rule on the words of the line.
 */
export function linesHeld(name: string, value: CommandWord): readonly CommandWord[] {
  const program = holderOf(name);
  if (value.open) return [];
  if (program === null && !value.text.includes('-XX:')) return [];
  const { words } = splitWords(value.text);
  const java = [value.text, ...words].flatMap(linesOfJava);
  if (program === null) return java;
  const texts = [...new Set([value.text, ...words])].map((text) => text.replace(/^--[\w-]+=/, ''));
  const code = new Set(texts.flatMap((text) => linesInCode(program, text).lines));
  const given = words.map(literalWord);
  return [
    ...java,
    ...lineOptions(program, given),
    ...runtimeLines(program, given),
    ...namedLines(program, given),
    ...(program === 'parallel' ? beginnings(value.text) : []),
    ...Array.from(code, literalWord),
  ];
}

/** Options of `parallel` may have the command behind them: what stands behind each word. */
function beginnings(text: string): readonly CommandWord[] {
  const starts = Array.from(text.matchAll(/(?<!\S)[^\s-]/g), ({ index }) => index).slice(0, maxBeginnings);
  return starts.map((at) => literalWord(text.slice(at)));
}
