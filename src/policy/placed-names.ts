import type { CommandWord, FoundCommand } from '../schema/command.ts';
import type { PolicyHost } from '../schema/policy.ts';
import { baseName } from '../shell/programs.ts';
import { placesOfWord, type ReadPath } from './named-paths.ts';
import { operandsOf } from './placed-operands.ts';
import { textsByOption } from './text-options.ts';

/** Programs that put what they are given into a directory under the name that it has: `cp conf/AGENTS.md .`. */
const placers: ReadonlySet<string> = new Set('cp gcp mv gmv install ginstall ln gln rsync scp sftp'.split(' '));

/** Most paths that are looked at for one command; a line has not so many words. */
const maxNames = 20_000;

/** The paths that a command writes in an existing directory and that none of its words spells out. */
export function placedNames(command: FoundCommand, host: PolicyHost, read: ReadPath): readonly string[] {
  const [program, ...rest] = command.words;
  const name = baseName(program?.text ?? '');
  if (name === 'curl' || name === 'wget') return downloaded(name, command, host);
  const moved = name === 'git' && rest[0]?.text === 'mv';
  if (program === undefined || !(placers.has(name) || moved)) return [];
  const texts = textsByOption(command);
  const operands = texts.length === 0 ? rest : rest.filter((word) => !texts.includes(word));
  const { sources, targets } = linkedHere(name, operandsOf(moved ? operands.slice(1) : operands));
  const directories = targets
    .flatMap((word) => placesOfWord(word, command, host))
    .filter((place) => place !== '' && !place.includes('\0') && host.isDirectory(read(place).found()));
  const names = new Set(sources.flatMap((word) => placesOfWord(word, command, host)).map(lastName));
  const known = [...names].filter((name) => !/^(?:|\.|\.\.)$/.test(name) && !name.includes('\0'));
  return directories.flatMap((place) => known.map((name) => `${place}/${name}`)).slice(0, maxNames);
}

/** Where such a program puts what it is given, and which of its words it puts there; neither of any other program. */
export function placing({ words: [program, ...rest] }: FoundCommand): {
  readonly targets: readonly CommandWord[];
  source(word: CommandWord): boolean;
} {
  if (!placers.has(baseName(program?.text ?? ''))) return { targets: [], source: () => false };
  const { sources, targets } = operandsOf(rest);
  return { targets, source: (word) => sources.includes(word) };
}

/** Alone, what `ln` is given is linked to here. */
const linkedHere = (name: string, operands: ReturnType<typeof operandsOf>): ReturnType<typeof operandsOf> =>
  /^g?ln$/.test(name) && operands.sources.length === 0
    ? { sources: operands.targets, targets: [{ text: '.', path: '.', open: false }] }
    : operands;

const lastName = (path: string): string => path.replace(/\/+$/, '').split('/').at(-1) ?? '';

/** The options by which `curl` names a file after its address, and by which both are told the directory. */
const remoteName = /^-[A-Za-z#]*O|^--remote-name/;
const into = { curl: /^--output-dir(?:=|$)/, wget: /^(?:-[A-Za-z]*P|--directory-prefix(?:=|$))/ };

/** What is downloaded gets the name that its address ends in. */
function downloaded(name: 'curl' | 'wget', command: FoundCommand, host: PolicyHost): readonly string[] {
  const rest = command.words.slice(1);
  if (name === 'curl' && !rest.some(({ text }) => remoteName.test(text))) return [];
  const given = rest.flatMap(({ text, path }, index) => {
    const option = into[name].exec(text)?.[0];
    return option === undefined ? [] : [text === option ? (rest[index + 1]?.path ?? '') : path.slice(option.length)];
  });
  const directories = given.length === 0 ? ['.'] : given;
  const names = rest.flatMap(({ text }) => {
    const path = /^(?:[A-Za-z]+:\/\/)?[^/?#]*\/([^?#]*)/.exec(text)?.[1] ?? '';
    return text.startsWith('-') ? [] : [lastName(path)];
  });
  return directories.flatMap((directory) =>
    names
      .filter((one) => one !== '')
      .map((one): CommandWord => ({ text: `${directory}/${one}`, path: `${directory}/${one}`, open: false }))
      .flatMap((word) => placesOfWord(word, command, host)),
  );
}
