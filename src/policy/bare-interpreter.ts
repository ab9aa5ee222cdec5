import { shells } from '../shell/programs.ts';

/** Words behind which an interpreter reads its code from the command line, by its name without a version. */
const codeOptions: Readonly<Record<string, RegExp>> = {
  python: /^-[A-Za-z]*c/,
  node: /^(?:-[a-z]*[ep]|--eval|--print)(?:=|$)/,
  perl: /^-(?![IMmx])[A-Za-z0-9]*[eE]/,
  ruby: /^-(?![IrEKTx])[A-Za-z0-9]*e/,
  php: /^-(?:[rBRE]|-run|-process-(?:begin|code|end))/,
  lua: /^-e/,
  osascript: /^-e/,
  powershell: /^[-/](?:c|e|ec|en)/i,
  cmd: /^\/[ckr]/i,
};
const alike: Readonly<Record<string, string>> = {
  pypy: 'python',
  ipython: 'python',
  nodejs: 'node',
  deno: 'node',
  bun: 'node',
  tsx: 'node',
  'ts-node': 'node',
  jruby: 'ruby',
  luajit: 'lua',
  pwsh: 'powershell',
};
const shellCode = /^-[A-Za-z]*c[A-Za-z]*$/;
/** Behind them stands a name of something else than a script, or code. */
const subcommands: ReadonlySet<string> = new Set(['x', 'exec', 'eval']);

/**
 * Whether an entry names no script and no module (02 §9.5): what stands behind `-c` and its like is code.
 * Whether an option takes the word behind it is not known of every interpreter: such a word counts as its value, so
 * that an entry grants less rather than more.
 * @param name the basename of its program
 * @param rest the words behind it
 */
export function isBareInterpreter(name: string, rest: readonly string[]): boolean {
  const last = rest.at(-1);
  if (last === undefined || last.startsWith('-') || last === 'run' || subcommands.has(last)) return true;
  if (subcommands.has(rest[0] ?? '')) return true;
  const plain = name.replace(/-?[0-9][0-9.]*$/, '');
  const code = shells.has(plain) ? shellCode : codeOptions[alike[plain] ?? plain];
  const script = rest.findIndex((word, index) => {
    const before = rest[index - 1];
    return word === '-m' || !(isOption(word) || (before !== undefined && isOption(before)));
  });
  return code !== undefined && rest.slice(0, script === -1 ? rest.length : script).some((word) => code.test(word));
}

/** Those of `cmd` begin with a slash, as paths do: what they are taken for decides only how far is looked. */
const isOption = (word: string): boolean => word.startsWith('-') || /^\/[A-Za-z]$/.test(word);
