import type { PolicyHost } from '../schema/policy.ts';
import { manyNamed, programName } from './analysis.ts';
import { expandBraces } from './braces.ts';
import { credentials, secretLooking } from './catalogue.ts';

/**
 * A granted search goes through whole directories, and its operands name none of the files in them. So it is told to leave
 * out what no operand may be (02 §9.7): what its name alone shows to be a credential, a secret, or ours.
 */

type Names = { readonly files: readonly string[]; readonly directories: readonly string[] };

let names: Names | null = null;

/** What of the catalogue is about names, not about places; made once, since it never changes. */
function guardedNames(): Names {
  if (names !== null) return names;
  const files: string[] = [];
  const directories = ['.reins'];
  for (const source of [...credentials, ...secretLooking]) {
    const expanded = source.startsWith('**/') ? expandBraces(source.slice('**/'.length)) : [];
    for (const pattern of typeof expanded === 'string' ? [] : expanded) {
      const directory = pattern.endsWith('/**');
      const name = directory ? pattern.slice(0, -'/**'.length) : pattern;
      if (!name.includes('/')) (directory ? directories : files).push(name);
    }
  }
  names = { files, directories };
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

function leftOut(name: string, rest: readonly string[]): readonly string[] {
  const { files, directories } = guardedNames();
  if (name === 'rg') return [...directories, ...files].flatMap((guarded) => ['-g', `!${guarded}`]);
  if (!/^g?[ef]?grep$/.test(name)) return [];
  const recursive = rest.some((word) => /^-[A-Za-z]*[rR]|^--(dereference-)?recursive$/.test(word));
  if (!recursive) return [];
  return [
    ...directories.map((guarded) => `--exclude-dir=${guarded}`),
    ...files.map((guarded) => `--exclude=${guarded}`),
  ];
}
