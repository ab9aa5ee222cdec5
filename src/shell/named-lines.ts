import type { CommandWord } from '../schema/command.ts';
import { literalWord } from './words.ts';

/** Names that a line gives to commands of its own: aliases, which are texts, and functions. */
export function createNamedLines() {
  const aliases = new Map<string, string>();
  const functions = new Set<string>();

  /** The line that a command stands for whose program is an alias; null for any other. */
  const lineOf = ([program, ...rest]: readonly CommandWord[]): CommandWord | null => {
    const alias = aliases.get(program?.text ?? '');
    if (alias === undefined) return null;
    // What is not known stays as it was written.
    const words = rest.map(({ text, open }) => (open ? text : quoted(text)));
    return literalWord([alias, ...words].join(' '));
  };

  return {
    addFunction(name: string): void {
      functions.add(name);
    },
    isFunction: (name: string): boolean => functions.has(name),
    /** What `alias` is given. */
    addAliases(words: readonly CommandWord[]): void {
      for (const { text } of words) {
        const at = text.indexOf('=');
        if (at > 0) aliases.set(text.slice(0, at), text.slice(at + 1));
      }
    },
    lineOf,
    /** Has the line of a command read; meanwhile the name is that of a program. */
    expand(words: readonly CommandWord[], read: (line: CommandWord) => void): void {
      const name = words[0]?.text ?? '';
      const alias = aliases.get(name);
      const line = lineOf(words);
      if (alias === undefined || line === null) return;
      aliases.delete(name);
      read(line);
      aliases.set(name, alias);
    },
  };
}

/** Behind the text of the alias a word may be grammar or an assignment: that stays outside the quotes. */
function quoted(text: string): string {
  if (/^[\w./:,@%+!{}[\]-]+$/.test(text)) return text;
  const name = /^(?:[A-Za-z_]\w*\+?=)?/.exec(text)?.[0] ?? '';
  return `${name}'${text.slice(name.length).replaceAll("'", "'\\''")}'`;
}
