import type { CommandWord } from '../schema/command.ts';
import type { CodeLines } from './code-lines.ts';

/** Scripts that package managers start by themselves. */
const lifecycle =
  /^(?:dev|pre|post)?(?:install|uninstall|prepare|publish|publishOnly|pack|version|dependencies)$|-cmd$/;
/** Words that stand for a script by another name. */
const shortened: Readonly<Record<string, string>> = { t: 'test', tst: 'test', 'install-test': 'test', it: 'test' };

/** The scripts of a package that the words of a command name, with those before and behind them; all where a word is open. */
export function scriptsOf(text: string, rest: readonly CommandWord[]): CodeLines {
  const named = new Set(rest.flatMap((word) => [word.text, shortened[word.text] ?? word.text]));
  const all = rest.some((word) => word.open || word.filled === true || /[*{,]/.test(word.text));
  const lines = Object.entries(tableOf(text)).flatMap(([name, line]) =>
    all || lifecycle.test(name) || named.has(name) || named.has(name.replace(/^(?:pre|post)/, '')) ? [line].flat() : [],
  );
  return { lines: lines.filter((line): line is string => typeof line === 'string'), guessed: false, unnamed: null };
}

/** What the text holds under `scripts`, or `tasks`; nothing where it is no such document, which no manager would read. */
function tableOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const document: unknown = JSON.parse(text);
    return { ...membersOf(document, 'scripts'), ...membersOf(document, 'tasks') };
  } catch {
    return {};
  }
}

function membersOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return {};
  const member: unknown = Object.getOwnPropertyDescriptor(value, name)?.value;
  return typeof member === 'object' && member !== null ? { ...member } : {};
}
