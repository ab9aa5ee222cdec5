import type { CommandWord, FoundCommand } from '../schema/command.ts';
import type { PolicyHost } from '../schema/policy.ts';
import { baseName } from '../shell/programs.ts';
import type { Analysis } from './analysis.ts';
import { expandBraces } from './braces.ts';
import { comparedBy } from './compared.ts';
import { copiedInto } from './copied-into.ts';
import { findTests, type Kind } from './find-tests.ts';
import { leftOut } from './left-out.ts';
import { placesOfWord, type ReadPath } from './named-paths.ts';
import { rewrittenBy } from './git-writes.ts';
import { comparable, isWithin } from './paths.ts';
import { textsByOption } from './text-options.ts';
import { everything, type Taken } from './taken.ts';
import { unpackedInto } from './unpacked.ts';

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
  ditto: copies(null, true),
  rclone: copies(/^(?:copy|sync|move|bisync)$/, true),
  aws: copies(/^s3$/, true),
  gsutil: copies(/^-[A-Za-z]*[rR]|^rsync$/, true),
  kubectl: copies(/^cp$/, true),
  docker: copies(/^cp$/, true),
  podman: copies(/^cp$/, true),
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
  ln: opens(null),
  mount: opens(/^--r?bind$|^-[A-Za-z]*[BRo]/),
};

/** What its source does not hold is removed from its target. */
const mirrors = changes(null);

/** Programs that give a container directories of this machine. */
const containers: ReadonlySet<string> = new Set('docker podman nerdctl docker-compose podman-compose'.split(' '));

/** The directories that the commands of a call take with all they hold. */
export const takenPlaces = (analysis: Analysis, host: PolicyHost, read: ReadPath): readonly Taken[] =>
  analysis.commands.flatMap((command) => {
    const taken = takenBy(command, host, read);
    const taker = takerOf(command);
    const fills = taker?.target === true && !taker.changes;
    return fills ? [...taken, ...copiedInto(command, analysis, host, read)] : taken;
  });

function takenBy(command: FoundCommand, host: PolicyHost, read: ReadPath): readonly Taken[] {
  const [program, ...rest] = command.words;
  const name = baseName(program?.text ?? '');
  if (containers.has(name) && rest[0]?.text !== 'cp')
    return directoriesOf(mountedBy(rest), command, opens(null), host, read);
  if (name === 'find' || name === 'gfind') return foundBy(rest, command, host, read);
  const compared = comparedBy(command, host, read);
  if (compared.length > 0) return compared;
  if (name === 'git') return takenByGit(rest, command, host, read);
  const filled = directoriesOf(unpackedInto(name, rest), command, changes(null), host, read).map((taken) => ({
    ...taken,
    given: `${taken.given}, where ${name} puts what an archive holds,`,
  }));
  if (filled.length > 0) return filled;
  const taker = takerOf(command);
  if (taker === null) return [];
  const texts = textsByOption(command);
  const into = /^(?:-[A-Za-z]*t|--target-directory)$/;
  const operands = rest.filter(
    (word, index) =>
      !word.text.startsWith('-') && !(taker.target && into.test(rest[index - 1]?.text ?? '')) && !texts.includes(word),
  );
  const all = !taker.target || rest.some(({ text }) => /^-[A-Za-z]*t|^--target/.test(text));
  // Alone, what `ln` is given is linked to here.
  const taken = all || operands.length === 1 ? operands : operands.slice(0, -1);
  const leaves = leftOut(
    name,
    rest,
    taken.find((word) => directoriesOf([word], command, taker, host, read).length > 0),
  );
  return directoriesOf(taken, command, taker, host, read).map((one) => (leaves === null ? one : { ...one, leaves }));
}

/** What is not known to git it removes, what is known to it it writes over. */
function takenByGit(
  rest: readonly CommandWord[],
  command: FoundCommand,
  host: PolicyHost,
  read: ReadPath,
): readonly Taken[] {
  const root: CommandWord = { text: host.workspace, path: host.workspace, open: false };
  const known = directoriesOf(rewrittenBy(rest, root), command, changes(null), host, read);
  const cleaned = directoriesOf(cleanedBy(rest), command, changes(null), host, read);
  return [
    ...cleaned.map((taken) => ({ ...taken, unsure: true as const })),
    ...cleaned.map((taken) => ({ ...taken, admits: (path: string) => !host.isTracked(path) })),
    ...known.map((taken) => ({ ...taken, admits: (path: string) => host.isTracked(path) })),
  ];
}

/** How a command takes directories whole; null where it does not. */
export function takerOf({ words: [program, ...rest] }: FoundCommand): Taker | null {
  const name = baseName(program?.text ?? '');
  if (name === 'rsync' && rest.some(({ text }) => /^--del/.test(text))) return mirrors;
  const taker = Object.hasOwn(takers, name) ? takers[name] : undefined;
  if (taker === undefined || taker.by === null) return taker ?? null;
  const { by } = taker;
  // The letters of `tar` may stand without a dash, in its first word alone.
  const takes = rest.some(({ text }, index) => (index === 0 || text.startsWith('-')) && by.test(text));
  return takes ? taker : null;
}

/** Most operands of a command that are looked at. */
const maxOperands = 1024;

const directoriesOf = (
  words: readonly CommandWord[],
  command: FoundCommand,
  taker: Taker,
  host: PolicyHost,
  read: ReadPath,
): readonly Taken[] =>
  words.length > maxOperands
    ? [everything(taker.changes)]
    : [...new Set(words.flatMap((word) => placesOfWord(word, command, host)))]
        .filter((place) => place !== '' && !place.includes('\0'))
        .map((place) => ({
          given: place,
          real: read(place).found(),
          changes: taker.changes,
          opens: taker.opens === true,
        }))
        .filter(({ real }) => host.isDirectory(real));

/** What `find` removes itself: as much of its directories as its tests let through. */
function foundBy(
  rest: readonly CommandWord[],
  command: FoundCommand,
  host: PolicyHost,
  read: ReadPath,
): readonly Taken[] {
  if (!rest.some(({ text }) => text === '-delete')) return [];
  const { places, mayGive, asksFor } = findTests(rest);
  const begins = places.length === 0 ? [here] : places;
  return directoriesOf(begins, command, changes(null), host, read).map((taken) => ({
    ...taken,
    mayBeNamed: asksFor,
    admits: (path) => begins.some((place) => mayGive(spelled(path, taken.real, place.path), kindOfPath(path, host))),
  }));
}

/** What `find` says of a path that exists. */
export const kindOfPath = (path: string, host: PolicyHost): Kind =>
  !host.isDirectory(path) ? 'other' : contents(path, host).length === 0 ? 'directory' : 'full directory';

/** A path below a directory as `find` spells it, which was given that directory by this name. */
export const spelled = (path: string, directory: string, given: string): string =>
  path === directory
    ? given
    : `${given.replace(/\/$/, '')}/${path.slice(directory === '/' ? 1 : directory.length + 1)}`;

const here: CommandWord = { text: '.', path: '.', open: false };

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

/** `git stash -u` and `-a` take away what the repository does not know. */
function stashesAll(rest: readonly CommandWord[]): boolean {
  const texts = rest.map(({ text }) => text);
  const at = texts.indexOf('stash');
  if (at === -1 || !/^(?:-|push$|save$)/.test(texts[at + 1] ?? '')) return false;
  return texts.slice(at).some((text) => /^(?:-[a-z]*[ua]|--all|--include-untracked)/.test(text));
}

/** What `git clean` removes files from: the directories it is given, else the one where it runs. */
function cleanedBy(rest: readonly CommandWord[]): readonly CommandWord[] {
  if (stashesAll(rest)) return [here];
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
  return [within ?? here];
}

/** Why a person has to be asked about what a directory holds of ours (11 §6.1), or null. */
export function ownIn(taken: Taken, host: PolicyHost): string | null {
  const { given, real, changes, opens, verb = 'holds', admits, unsure } = taken;
  const { secrets, plane, instructions } = host.guarded;
  // What may be anything most likely is not ours; what is said of it is said by the rules about places.
  if (taken.anywhere === true) return null;
  if (opens && isWithin(comparable(real, host), comparable(host.realPath(host.workspace), host))) return null;
  const whole = changes || admits === undefined;
  const places = [...secrets, ...(changes ? plane : []), ...(whole ? [inside(real, '.reins')] : [])];
  for (const place of places) {
    const held = heldOf(place, taken, host);
    if (held !== null) return `${given} ${verb} what belongs to Reins: ${held}`;
  }
  if (!changes || unsure === true) return null;
  // What steers later conversations is changed by whoever may change all that lies beside it.
  const steering = instructions.map((place) => heldOf(place, taken, host)).find((held) => held !== null);
  return steering == null ? null : `${given} ${verb} the protected path ${steering}`;
}

/** The place if it is taken, or what lies in it and is; null where nothing of it is. */
function heldOf(place: string, { real, admits, exactly, arrives, leaves }: Taken, host: PolicyHost): string | null {
  if (leaves?.(place.slice(real === '/' ? 1 : real.length + 1)) === true) return null;
  if (exactly === true) return isWithin(comparable(real, host), comparable(place, host)) ? real : null;
  if (arrives === true) return isBelow(place, real, host) && admits?.(place) === true ? place : null;
  if (!isHeld(place, real, host)) return null;
  return admits === undefined ? place : ([place, ...contents(place, host)].find(admits) ?? null);
}

/** What a directory holds, two deep. */
function contents(place: string, host: PolicyHost): readonly string[] {
  if (!host.isDirectory(place)) return [];
  const first = ['*', '.*'].flatMap((name) => host.filesLike(inside(place, name)));
  const second = first.flatMap((path) => (host.isDirectory(path) ? host.filesLike(inside(path, '*')) : []));
  return [...first, ...second];
}

/**
 * Finds the existing path in a directory that a glob is about, or null: where the glob says a place, and for one of any
 * depth directly in the directory, in the home directory and in the workspace.
 */
export function createHeldPlace(source: string): (taken: Taken, host: PolicyHost) => string | null {
  let known: readonly string[] | null = null;
  return (taken, host) => {
    const { real } = taken;
    known ??= patternsOf(source);
    for (const pattern of known) {
      for (const place of [...placesOf(pattern, real, host), ...deeper(pattern, taken)]) {
        // What stands before the first wildcard tells whether it is worth a look at the disk.
        const [above = ''] = /^[^*?[\\]*(?=\/)/.exec(place) ?? [];
        if (!isWithin(comparable(above, host), comparable(real, host))) continue;
        const found = /[*?[\\]/.test(place) ? host.filesLike(place) : [place];
        for (const path of found) {
          const held = heldOf(path, taken, host);
          if (held !== null) return held;
        }
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

/** Where a name is asked for, it is worth a look at what lies deeper. */
function deeper(pattern: string, { real, mayBeNamed }: Taken): readonly string[] {
  const name = /^\*\*\/([^/]+)$/.exec(pattern)?.[1];
  if (name === undefined || mayBeNamed?.(name.replaceAll('*', '')) !== true) return [];
  return ['*', '*/*', '*/*/*'].map((above) => inside(real, `${above}/${name}`));
}

const inside = (directory: string, name: string): string => `${directory === '/' ? '' : directory}/${name}`;

/** It exists strictly below the directory: a word that names the place itself is judged as such. */
const isHeld = (path: string, directory: string, host: PolicyHost): boolean =>
  isBelow(path, directory, host) && (host.isDirectory(path) || host.hardLinks(path) > 0);

function isBelow(path: string, directory: string, host: PolicyHost): boolean {
  const [inner, outer] = [comparable(path, host), comparable(directory, host)];
  return inner !== outer && isWithin(inner, outer);
}
