import type { CommandWord, FoundCommand } from '../schema/command.ts';
import type { PolicyHost } from '../schema/policy.ts';
import { baseName } from '../shell/programs.ts';
import { placesOfWord, type ReadPath } from './named-paths.ts';
import { everything, type Taken } from './taken.ts';
import { wildcard } from './wildcard.ts';

/** Programs that print what differs between the files of two directories. */
const comparers: ReadonlySet<string> = new Set('diff gdiff sdiff colordiff icdiff difft'.split(' '));
/** Short options with a value, which ends a bundle. */
const valued = 'xXIFSUCWDL';
/** Most operands, and most patterns of what is left out, that are looked at. */
const maxOperands = 64;
const maxExcluded = 64;
/** What `git diff` prints instead of contents, and what adds them again. */
const summaries = /^--(?:name-only|name-status|(?:short|num)?stat|quiet|summary|raw|dirstat)/;
const patches = /^(?:-p|-u|--patch.*|--binary|-U[0-9]+)$/;

/** How files are found for a comparison. */
type Way = {
  /** It tells no more than that they differ. */
  readonly brief: boolean;
  readonly recursive: boolean;
  /** A file that is missing in one of the directories is printed whole. */
  readonly whole: boolean;
  readonly excluded: readonly string[];
  readonly operands: readonly CommandWord[];
};

/** What a comparison prints of directories that it is given; nothing for any other command. */
export function comparedBy(
  { words: [program, ...rest], ...command }: FoundCommand,
  host: PolicyHost,
  read: ReadPath,
): readonly Taken[] {
  const name = baseName(program?.text ?? '');
  const way = comparers.has(name) ? readWay(rest) : name === 'git' ? gitWay(rest) : null;
  if (way === null || way.brief) return [];
  if (way.operands.length > maxOperands) return [everything(false)];
  const given = way.operands.flatMap((word) =>
    placesOfWord(word, { ...command, words: [] }, host)
      .filter((place) => place !== '' && !place.includes('\0'))
      .map((place) => ({ place, real: read(place).found() })),
  );
  const directories = given.filter(({ real }) => host.isDirectory(real));
  const others = given.filter(({ real }) => !host.isDirectory(real));
  const exists = (real: string): boolean => host.isDirectory(real) || host.hardLinks(real) > 0;
  // Of a word that is not there nobody knows what it will be.
  const whole = way.whole || directories.length < 2 || others.some(({ real }) => !exists(real));
  const patterns = way.excluded.slice(0, maxExcluded).map(wildcard);
  const taken = directories.map(
    ({ place, real }): Taken => ({
      given: place,
      real,
      changes: false,
      opens: false,
      admits: (path) => {
        const inner = path.slice(real === '/' ? 1 : real.length + 1);
        const parts = inner.split('/');
        if (parts.some((part) => patterns.some((excludes) => excludes?.(part) === true))) return false;
        if (!way.recursive && (parts.length > 1 || host.isDirectory(path))) return false;
        return whole || directories.some((other) => other.real !== real && exists(`${other.real}/${inner}`));
      },
    }),
  );
  // Beside a directory a file is compared with the one of its name.
  const paired = others.flatMap(({ place }) =>
    directories.map(({ real }): Taken => {
      const path = `${real}/${baseName(place)}`;
      return { given: place, verb: 'is compared with', real: path, changes: false, opens: false, exactly: true };
    }),
  );
  const isPair = directories.length > 1 || others.some(({ real }) => !exists(real));
  return isPair ? [...taken, ...paired] : paired;
}

function readWay(rest: readonly CommandWord[]): Way {
  const letters: string[] = [];
  const excluded: string[] = [];
  const operands: CommandWord[] = [];
  let ended = false;
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at];
    if (word === undefined) continue;
    const { text } = word;
    const value = rest[at + 1]?.text ?? '';
    if (ended || !/^-./.test(text)) operands.push(word);
    else if (text === '--') ended = true;
    else if (text.startsWith('--')) {
      const [, option = '', attached] = /^(--[a-z-]+)(?:=(.*))?$/s.exec(text) ?? [];
      const is = (long: string): boolean => option.length > 3 && long.startsWith(option);
      if (is('--recursive')) letters.push('r');
      else if (is('--new-file') || is('--unidirectional-new-file')) letters.push('N');
      else if (is('--brief')) letters.push('q');
      else if (option === '--exclude') excluded.push(attached ?? value);
      else if (/^--(?:from|to)-file$/.test(option)) {
        letters.push('N');
        if (attached !== undefined) operands.push({ text: attached, path: attached, open: word.open });
      }
      if (option === '--exclude' && attached === undefined) at += 1;
    } else {
      const end = [...text].findIndex((letter, index) => index > 0 && valued.includes(letter));
      letters.push(...text.slice(1, end === -1 ? undefined : end));
      if (end === -1) continue;
      const attached = text.slice(end + 1);
      if (text.charAt(end) === 'x') excluded.push(attached === '' ? value : attached);
      if (attached === '') at += 1;
    }
  }
  return {
    brief: letters.includes('q'),
    recursive: letters.includes('r'),
    whole: letters.includes('N') || letters.includes('P'),
    excluded,
    operands,
  };
}

/** `git diff --no-index` goes through directories, and prints files that one of them lacks. */
function gitWay(rest: readonly CommandWord[]): Way | null {
  const at = rest.findIndex(({ text }) => text === 'diff');
  const behind = rest.slice(at + 1);
  if (at === -1 || !behind.some(({ text }) => text === '--no-index')) return null;
  const brief = behind.some(({ text }) => summaries.test(text)) && !behind.some(({ text }) => patches.test(text));
  const operands = behind.filter(({ text }) => !text.startsWith('-'));
  return { brief, recursive: true, whole: true, excluded: [], operands };
}
