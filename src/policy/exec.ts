import type { CommandReading, GrantableLine } from '../schema/command.ts';
import type { ExecFact, PolicyHost } from '../schema/policy.ts';
import { programName } from './analysis.ts';
import { gitEnvironment, hardened } from './git.ts';
import { searching } from './search.ts';

const shellFile = '/bin/sh';

/** A `go.mod` may name another Go, which even `go version` would download and start. */
const goEnvironment: Readonly<Record<string, string>> = { GOTOOLCHAIN: 'local' };

/**
 * What a `local_shell` call would execute (02 §8, §9.5, 05 §3.3): for an argument vector the resolved file with the words
 * as written; for a line `/bin/sh -c` with the exact line. When an allowlist granted it, exactly the analysed form: a
 * line rebuilt with every program by its file, `git` hardened, and searches told what to leave out. Null for what the tool refuses. Nothing is looked up
 * again.
 */
export function resolveExec(reading: CommandReading, host: PolicyHost, granted = false): ExecFact | null {
  const { cwd } = host;
  if (reading.form === 'none') return null;
  const line = granted && reading.grant.ok ? reading.grant.line : null;
  const commands = line?.commands.map(({ words }) => words) ?? [];
  const git = commands.some((words) => isGit(words[0] ?? '', host));
  const searched = commands.some((words) => searching(words, host) !== words) ? ({ searched: true } as const) : {};
  const go = commands.some(([word = '']) => programName(word, host) === 'go');
  const environment = {
    env_set: { ...(git && gitEnvironment), ...(go && goEnvironment) },
    env_clear: git ? ['GIT_'] : [],
  };
  if (reading.form === 'sh') {
    const text = line === null ? reading.line : rebuilt(line, host);
    return {
      form: 'sh',
      file: shellFile,
      argv: [shellFile, '-c', text],
      ...environment,
      cwd,
      program: null,
      ...searched,
    };
  }
  const [word = ''] = reading.words;
  const program = host.resolveProgram(word, cwd);
  const argv = git ? hardened(reading.words) : line === null ? reading.words : searching(reading.words, host);
  return { form: 'argv', file: program?.real ?? null, argv, ...environment, cwd, program, ...searched };
}

/** By its own name or that of the file behind it. */
export function isGit(word: string, host: PolicyHost): boolean {
  if (programName(word, host) === 'git') return true;
  const resolved = host.resolveProgram(word, host.cwd);
  return resolved !== null && programName(resolved.real, host) === 'git';
}

/**
 * The file behind a program word. One that goes by another name is started under the name that it was found by: many
 * programs are what they are called.
 */
function fileOf(word: string, host: PolicyHost): string {
  const program = host.resolveProgram(word, host.cwd);
  if (program === null) return word;
  const same = programName(program.real, host) === programName(word, host);
  return same ? program.real : (program.link ?? program.real);
}

/** Every program by its resolved file, every word in single quotes: the shell finds nothing left to decide. */
function rebuilt({ commands, operators }: GrantableLine, host: PolicyHost): string {
  const texts = commands.map(({ words, redirects }) => {
    const [word = '', ...rest] = isGit(words[0] ?? '', host) ? hardened(words) : searching(words, host);
    return [...[fileOf(word, host), ...rest].map(quoted), ...redirects].join(' ');
  });
  return texts.map((text, index) => (index === 0 ? text : `${operators[index - 1] ?? '&&'} ${text}`)).join(' ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
