import type { CommandReading } from '../schema/command.ts';
import type { PolicyHost } from '../schema/policy.ts';
import { manyNamed, programName } from './analysis.ts';
import { expandBraces } from './braces.ts';
import { credentials, secretLooking } from './catalogue.ts';
import type { Operand } from './option-tables.ts';
import type { Scope } from './scope.ts';

/**
 * A granted search goes through whole directories, and its operands name none of the files in them. So it is told to leave
 * out what no operand may be (02 §9.7): what its name alone shows to be a credential, a secret, or ours.
 */

type Names = {
  readonly files: readonly string[];
  readonly directories: readonly string[];
  /** Files and directories that are meant only below another one: `.docker/config.json`. */
  readonly places: readonly string[];
};

let names: Names | null = null;

/** The catalogue as a search can be told of it; made once, since it never changes. */
function guardedNames(): Names {
  if (names !== null) return names;
  const files: string[] = [];
  const places: string[] = [];
  const directories = ['.reins'];
  for (const source of [...credentials, ...secretLooking]) {
    const expanded = source.startsWith('**/') ? expandBraces(source.slice('**/'.length)) : [];
    for (const pattern of typeof expanded === 'string' ? [] : expanded) {
      const directory = pattern.endsWith('/**');
      const name = directory ? pattern.slice(0, -'/**'.length) : pattern;
      (name.includes('/') ? places : directory ? directories : files).push(name);
    }
  }
  names = { files, directories, places };
  return names;
}

/** The words of a granted command as they run: those of a search through directories, with what it leaves out. */
export function searching(words: readonly string[], host: PolicyHost): readonly string[] {
  const [program = '', ...rest] = words;
  const left = leftOut(programName(program, host), rest);
  if (left.length === 0) return words;
  const file = host.resolveProgram(program, host.cwd)?.real ?? '';
  // These know no such options.
  if (manyNamed.has(programName(file, host))) return words;
  const end = words.indexOf('--');
  const at = end === -1 ? words.length : end;
  return [...words.slice(0, at), ...left, ...words.slice(at)];
}

/** Whether some command of a line searches through whole directories: it reads what no operand names. */
export const searchesDirectories = (reading: CommandReading | null, host: PolicyHost): boolean =>
  reading !== null &&
  reading.form !== 'none' &&
  reading.commands.some(({ words: [program, ...rest] }) => {
    const given = rest.map(({ text }) => text);
    return program !== undefined && leftOut(programName(program.text, host), given).length > 0;
  });

function leftOut(name: string, rest: readonly string[]): readonly string[] {
  const { files, directories, places } = guardedNames();
  if (name === 'rg') {
    return [...directories, ...files, ...places.map((place) => `**/${place}`)].flatMap((one) => ['-g', `!${one}`]);
  }
  if (!isRecursiveGrep(name, rest)) return [];
  return [
    ...directories.map((guarded) => `--exclude-dir=${guarded}`),
    ...files.map((guarded) => `--exclude=${guarded}`),
  ];
}

const isRecursiveGrep = (name: string, rest: readonly string[]): boolean =>
  /^g?[ef]?grep$/.test(name) && rest.some((word) => /^-[A-Za-z]*[rR]|^--(dereference-)?recursive$/.test(word));

/** Goes on behind each link that it finds on its way. */
const followsLinks = (rest: readonly string[]): boolean => rest.some((word) => /^-[A-Za-z]*R/.test(word));

/**
 * Why a search may not go through what it is given, or null: `grep` leaves out names and no places, so where one of the
 * catalogue lies, as in a home directory, somebody has to be asked. So where links lead it may be outside.
 */
export function searchProblem(
  name: string,
  rest: readonly string[],
  operands: readonly Operand[],
  { host, path }: Scope,
): string | null {
  if (!isRecursiveGrep(name, rest)) return null;
  const given = operands.flatMap(({ text, kind }) => (kind === 'read' ? [path(text).found()] : []));
  const through = given.filter((place) => host.isDirectory(place));
  if (followsLinks(rest) && (through.length > 0 || given.length === 0)) {
    return 'a search that follows links may leave the workspace';
  }
  for (const directory of through.length > 0 ? through : [host.realPath(host.cwd)]) {
    for (const place of guardedNames().places) {
      const inner = `${directory}/${place}`;
      if (host.isDirectory(inner) || host.hardLinks(inner) > 0) return `a search of ${directory} reads ${place}`;
    }
  }
  return null;
}
