import type { CallFlag } from '../schema/ask.ts';
import type { CommandSegment } from '../schema/policy-views.ts';
import { baseName, shells } from '../shell/programs.ts';
import { isInterpreter } from './programs.ts';

/** Programs that talk to other machines; with a list, only in these of their commands. */
const network: Readonly<Record<string, readonly string[] | null>> = {
  curl: null,
  wget: null,
  ssh: null,
  scp: null,
  sftp: null,
  rsync: null,
  ftp: null,
  telnet: null,
  nc: null,
  ncat: null,
  socat: null,
  gh: null,
  aws: null,
  gcloud: null,
  kubectl: null,
  git: ['push', 'fetch', 'pull', 'clone', 'ls-remote', 'submodule'],
  docker: ['pull', 'push', 'login', 'build', 'run'],
  npm: ['install', 'i', 'ci', 'add', 'publish', 'update', 'exec', 'login'],
  pnpm: ['install', 'i', 'add', 'publish', 'update', 'dlx'],
  yarn: ['install', 'add', 'publish', 'upgrade', 'dlx'],
  pip: ['install', 'download'],
  pip3: ['install', 'download'],
  cargo: ['install', 'publish', 'update'],
  go: ['get', 'install'],
  npx: null,
  uvx: null,
};

/** Programs that run what they are given as a text, or what comes to them from another one. */
const runsLines = (name: string): boolean => shells.has(name) || name === 'eval' || name === 'source' || name === '.';
const codeOptions: ReadonlySet<string> = new Set(['-c', '-e', '-p', '--eval', '--print', '-r', '-']);

const most = 8;

/**
 * What a person should know of a line before answering (03 §8 `flags`), from the commands that were read in it: which
 * talk to other machines, which run code that they are given. A help to the eye, never a judgement: a program that is
 * not named here may do the same.
 * @param whole all of the line was read; of one that was not, the raw text is looked at too
 * @param line as it was given, for the numbers of its lines
 */
export function commandFlags(
  commands: readonly Pick<CommandSegment, 'words'>[],
  whole: boolean,
  line: string,
): readonly CallFlag[] {
  const found = new Map<string, { flag: CallFlag['flag']; what: string; lines: number[] }>();
  const lines = line.split('\n');
  for (const { words } of whole ? commands : [...commands, ...rawCommands(line)]) {
    for (const flag of ['network', 'runs_code'] as const) {
      const what = flag === 'network' ? networkOf(words) : codeOf(words);
      if (what === null) continue;
      const name = `${flag} ${what}`;
      if (found.has(name) || found.size >= most) continue;
      found.set(name, { flag, what, lines: lines.length === 1 ? [] : placesOf(what, lines) });
    }
  }
  return [...found.values()];
}

const rawCommands = (line: string): readonly Pick<CommandSegment, 'words'>[] =>
  line.split(/[\n|;&()]+/).map((text) => ({ words: text.split(/[\s'"`]+/).filter((word) => word !== '') }));

function networkOf(words: readonly string[]): string | null {
  const name = baseName(words[0] ?? '');
  const commands = Object.hasOwn(network, name) ? network[name] : undefined;
  if (commands === undefined) return null;
  if (commands === null) return name;
  const command = words.slice(1).find((word) => commands.includes(word));
  return command === undefined ? null : `${name} ${command}`;
}

function codeOf(words: readonly string[]): string | null {
  const name = baseName(words[0] ?? '');
  if (runsLines(name)) return name;
  if (!isInterpreter(name)) return null;
  // Without an operand it reads its program from whoever writes to it.
  const option = words.slice(1).find((word) => codeOptions.has(word));
  if (option !== undefined) return `${name} ${option}`;
  return words.length === 1 ? name : null;
}

/** Lines, counted from 1, that hold the words of a command one behind the other. */
function placesOf(what: string, lines: readonly string[]): number[] {
  const words = what.split(' ');
  return lines
    .flatMap((text, index) => {
      const tokens = text.split(/[\s|&;()`]+/).map(baseName);
      const at = tokens.indexOf(words[0] ?? '');
      return at >= 0 && words.every((word) => tokens.includes(word, at)) ? [index + 1] : [];
    })
    .slice(0, most);
}
