import type { CommandWord, FoundCommand } from '../schema/command.ts';
import type { PolicyHost } from '../schema/policy.ts';
import { baseName } from '../shell/programs.ts';
import type { Analysis } from './analysis.ts';
import { expandBraces } from './braces.ts';
import { placesOfWord, type ReadPath } from './named-paths.ts';
import { comparable, isWithin } from './paths.ts';

/**
 * Programs that take a directory with all it holds: no word names the files in it, and they are read, copied or removed as
 * surely as if one did. Searches and listings are not among them: people use those all day, and they tell less.
 */
type Taker = {
  /** The option, or first word, by which it does so; null where it always does. */
  readonly by: RegExp | null;
  /** What it takes is no longer what it was, or where it was. */
  readonly changes: boolean;
  /** Its last operand is where it puts what it takes. */
  readonly target: boolean;
  /** It only opens another way to it: what is ours counts where it reaches beyond the workspace. */
  readonly opens?: true;
};

const copies = (by: RegExp | null, target = false): Taker => ({ by, changes: false, target });
const changes = (by: RegExp | null, target = false): Taker => ({ by, changes: true, target });
const opens = (by: RegExp | null): Taker => ({ ...changes(by, true), opens: true });
const archives = copies(/^-?[A-Za-z]*[cru]|^--(create|append|update)/);

const takers: Readonly<Record<string, Taker>> = {
  cp: copies(/^-[A-Za-z]*[rRa]|^--(rec|arc)/, true),
  scp: copies(/^-[A-Za-z0-9]*r/, true),
  rsync: copies(/^-[A-Za-z]*[ra]|^--(rec|arc)/, true),
  tar: archives,
  gtar: archives,
  bsdtar: archives,
  zip: copies(/^-[A-Za-z]*[rR]|^--recurse/),
  '7z': copies(/^[au]$/),
  '7za': copies(/^[au]$/),
  mv: changes(null, true),
  rm: changes(/^-[A-Za-z]*[rR]|^--rec/),
  chmod: changes(/^-[A-Za-z]*R|^--rec/),
  chown: changes(/^-[A-Za-z]*R|^--rec/),
  chgrp: changes(/^-[A-Za-z]*R|^--rec/),
  find: changes(/^-delete$/),
  ln: opens(null),
  mount: opens(/^--r?bind$|^-[A-Za-z]*[BRo]/),
};

/** Programs that give a container directories of this machine. */
const containers: ReadonlySet<string> = new Set('docker podman nerdctl docker-compose podman-compose'.split(' '));

/** An existing directory that a command takes whole. */
export type Taken = {
  readonly given: string;
  readonly real: string;
  readonly changes: boolean;
  readonly opens: boolean;
};

/** The directories that the commands of a call take with all they hold. */
export const takenPlaces = ({ commands }: Analysis, host: PolicyHost, read: ReadPath): readonly Taken[] =>
  commands.flatMap((command) => takenBy(command, host, read));

function takenBy(command: FoundCommand, host: PolicyHost, read: ReadPath): readonly Taken[] {
  const [program, ...rest] = command.words;
  const name = baseName(program?.text ?? '');
  if (containers.has(name)) return directoriesOf(mountedBy(rest), command, opens(null), host, read);
  if (name === 'git') return directoriesOf(cleanedBy(rest), command, changes(null), host, read);
  const taker = Object.hasOwn(takers, name) ? takers[name] : undefined;
  if (taker === undefined) return [];
  const { by } = taker;
  // The letters of `tar` may stand without a dash, in its first word alone.
  if (by !== null && !rest.some(({ text }, index) => (index === 0 || text.startsWith('-')) && by.test(text))) return [];
  const operands = rest.filter(({ text }) => !text.startsWith('-'));
  const all = !taker.target || rest.some(({ text }) => /^-[A-Za-z]*t|^--target/.test(text));
  // Alone, what `ln` is given is linked to here.
  const taken = all || operands.length === 1 ? operands : operands.slice(0, -1);
  return directoriesOf(taken, command, taker, host, read);
}

const directoriesOf = (
  words: readonly CommandWord[],
  command: FoundCommand,
  taker: Taker,
  host: PolicyHost,
  read: ReadPath,
): readonly Taken[] =>
  words
    .flatMap((word) => placesOfWord(word, command, host))
    .filter((place) => place !== '' && !place.includes('\0'))
    .map((place) => ({
      given: place,
      real: read(place).found(),
      changes: taker.changes,
      opens: taker.opens === true,
    }))
    .filter(({ real }) => host.isDirectory(real));

/** The directories of this machine among the words of a container: `-v ~:/x`, `--mount type=bind,src=/,dst=/x`. */
function mountedBy(rest: readonly CommandWord[]): readonly CommandWord[] {
  return rest.flatMap((word, index): readonly CommandWord[] => {
    const attached = /^(?:--volume=|--mount=|-[A-Za-z]*v=?)/.exec(word.path)?.[0].length;
    const behind = /^(?:--volume|--mount|-[A-Za-z]*v)$/.test(rest[index - 1]?.text ?? '');
    if (!behind && attached === undefined) return [];
    const value = behind ? word.path : word.path.slice(attached);
    const source = /(?:^|,)(?:src|source)=([^,]*)/.exec(value)?.[1] ?? value.split(':')[0] ?? '';
    // A name alone is a volume.
    return /^[./\0]/.test(source) ? [{ text: source, path: source, open: false }] : [];
  });
}

/** What `git clean` removes files from: the directories it is given, else the one where it runs. */
function cleanedBy(rest: readonly CommandWord[]): readonly CommandWord[] {
  const at = rest.findIndex(({ text }) => text === 'clean');
  const words = at === -1 ? [] : rest.slice(at + 1);
  const options = words.filter(({ text }) => text.startsWith('-')).map(({ text }) => text);
  if (!options.some((text) => /^(?:-[a-z]*f|--force)/i.test(text))) return [];
  if (options.some((text) => /^(?:-[a-z]*n|--dry-run)/i.test(text))) return [];
  const places = words.filter(
    ({ text }, index) => !text.startsWith('-') && !/^(?:-[a-z]*e|--exclude)$/i.test(words[index - 1]?.text ?? ''),
  );
  const [within] = rest.flatMap((_, index) => (rest[index - 1]?.text === '-C' && index < at ? [rest[index]] : []));
  if (places.length > 0) return places;
  return [within ?? { text: '.', path: '.', open: false }];
}

/** Why a person has to be asked about what a directory holds of ours (11 §6.1), or null. */
export function ownIn({ given, real, changes, opens }: Taken, host: PolicyHost): string | null {
  const { secrets, plane } = host.guarded;
  if (opens && isWithin(comparable(real, host), comparable(host.realPath(host.workspace), host))) return null;
  const places = [...secrets, ...(changes ? plane : []), inside(real, '.reins')];
  const held = places.find((place) => isHeld(place, real, host));
  return held === undefined ? null : `${given} holds what belongs to Reins: ${held}`;
}

/**
 * Finds the existing path in a directory that a glob is about, or null: where the glob says a place, and for one of any
 * depth directly in the directory, in the home directory and in the workspace.
 */
export function createHeldPlace(source: string): (taken: Taken, host: PolicyHost) => string | null {
  let known: readonly string[] | null = null;
  return ({ real }, host) => {
    known ??= patternsOf(source);
    for (const pattern of known) {
      for (const place of placesOf(pattern, real, host)) {
        // What stands before the first wildcard tells whether it is worth a look at the disk.
        const [above = ''] = /^[^*?[\\]*(?=\/)/.exec(place) ?? [];
        if (!isWithin(comparable(above, host), comparable(real, host))) continue;
        const found = /[*?[\\]/.test(place) ? host.filesLike(place) : [place];
        const held = found.find((path) => isHeld(path, real, host));
        if (held !== undefined) return held;
      }
    }
    return null;
  };
}

/** The alternatives of a glob, each without the `/**` behind it: the directory itself is what it is about as well. */
function patternsOf(source: string): readonly string[] {
  const all = expandBraces(source);
  return typeof all === 'string' ? [] : all.map((one) => one.replace(/(?:\/\*\*)+\/?$/, ''));
}

/** Where a pattern may lead; nowhere where it crosses directories that nobody has counted. */
function placesOf(pattern: string, directory: string, { home, workspace }: PolicyHost): readonly string[] {
  const deep = pattern.startsWith('**/');
  const rest = deep ? pattern.slice('**/'.length) : pattern.replace(/^(?:\.\/)+/, '');
  if (rest.includes('**')) return [];
  if (deep) return [directory, home, workspace].map((base) => inside(base, rest));
  if (rest.startsWith('~/')) return [`${home}${rest.slice(1)}`];
  return [rest.startsWith('/') ? rest : inside(workspace, rest)];
}

const inside = (directory: string, name: string): string => `${directory === '/' ? '' : directory}/${name}`;

/** It exists strictly below the directory: a word that names the place itself is judged as such. */
function isHeld(path: string, directory: string, host: PolicyHost): boolean {
  const [inner, outer] = [comparable(path, host), comparable(directory, host)];
  return inner !== outer && isWithin(inner, outer) && (host.isDirectory(path) || host.hardLinks(path) > 0);
}
