import type { FoundCommand } from '../schema/command.ts';
import type { PolicyHost } from '../schema/policy.ts';
import { baseName } from '../shell/programs.ts';
import { placesOfWord, type ReadPath } from './named-paths.ts';

/** Programs that put what they are given into a directory under the name that it has: `cp conf/AGENTS.md .`. */
const placers: ReadonlySet<string> = new Set('cp gcp mv gmv install ginstall ln gln rsync scp'.split(' '));

/** Most paths that are looked at for one command; a line has not so many words. */
const maxNames = 20_000;

/** The paths that a command writes in an existing directory and that none of its words spells out. */
export function placedNames(command: FoundCommand, host: PolicyHost, read: ReadPath): readonly string[] {
  const [program, ...rest] = command.words;
  if (program === undefined || !placers.has(baseName(program.text))) return [];
  const at = rest.findIndex(({ text }) => /^(?:-[A-Za-z]*t|--target-directory)$/.test(text));
  const attached = rest.flatMap(({ path }) => /^--target-directory=(.+)$/s.exec(path)?.[1] ?? []);
  const behind = at === -1 ? undefined : rest[at + 1];
  const all = rest.filter((word) => !word.text.startsWith('-') && word !== behind);
  const named = [
    ...(behind === undefined ? [] : [behind]),
    ...attached.map((path) => ({ text: path, path, open: false })),
  ];
  const targets = named.length > 0 ? named : all.slice(-1);
  const sources = named.length > 0 ? all : all.slice(0, -1);
  const directories = targets
    .flatMap((word) => placesOfWord(word, command, host))
    .filter((place) => place !== '' && !place.includes('\0') && host.isDirectory(read(place).found()));
  const names = new Set(sources.flatMap((word) => placesOfWord(word, command, host)).map(lastName));
  const known = [...names].filter((name) => !/^(?:|\.|\.\.)$/.test(name) && !name.includes('\0'));
  return directories.flatMap((place) => known.map((name) => `${place}/${name}`)).slice(0, maxNames);
}

const lastName = (path: string): string => path.replace(/\/+$/, '').split('/').at(-1) ?? '';
