import type { CommandWord, FoundCommand } from '../schema/command.ts';
import { baseName } from '../shell/programs.ts';
import { operandsOf } from './placed-operands.ts';

/** A link that a command makes, and where it leads. */
type Link = { readonly at: CommandWord; readonly to: CommandWord };

/**
 * The links that `ln -s` makes. A relative text is read from the directory of the link (`ln -s ../a/key b/link`), so it names
 * another file than the same word of any other command; the last word may be the link, or the directory that it is put into.
 */
export function linksMade({ words: [program, ...rest] }: FoundCommand): readonly Link[] {
  if (!/^g?ln$/.test(baseName(program?.text ?? '')) || !rest.some(({ text }) => symbolic.test(text))) return [];
  const { sources: given, targets } = operandsOf(rest);
  const sources = [...new Map(given.map((source) => [source.path, source])).values()].slice(0, maxSources);
  // Alone, it is linked to here.
  if (sources.length === 0) return targets.map((source) => ({ at: word(lastName(source.path), false), to: source }));
  return targets.flatMap((target) =>
    sources.flatMap((source) => [
      { at: target, to: from(directoryOf(target.path), source) },
      { at: word(`${target.path}/${lastName(source.path)}`, target.open), to: from(target.path, source) },
    ]),
  );
}

/** Of more the line is asked about for its own words. */
const maxSources = 4096;

const symbolic = /^(?:-[A-Za-z]*s|--symbolic$)/;

const word = (path: string, open: boolean): CommandWord => ({ text: path, path, open });

/** U+0000 stands for the home directory. */
const from = (directory: string, source: CommandWord): CommandWord =>
  directory === '' || /^[/\0]/.test(source.path) ? source : word(`${directory}/${source.path}`, source.open);

const directoryOf = (path: string): string => path.replace(/\/*[^/]*\/*$/, '');
const lastName = (path: string): string => path.replace(/\/+$/, '').split('/').at(-1) ?? '';
