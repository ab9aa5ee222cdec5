import type { CommandReading, ExecFact, PolicyHost } from '../schema/policy.ts';

const shellFile = '/bin/sh';

/**
 * What a `local_shell` call would execute (02 §8, §9.5, 05 §3.3): for an argument vector the resolved file with the words
 * as written; for a line `/bin/sh -c` with the exact line, or, when an allowlist granted it, with the words that were
 * judged behind the resolved file. Null for what the tool refuses. Nothing is looked up again.
 */
export function resolveExec(reading: CommandReading, host: PolicyHost, granted = false): ExecFact | null {
  const { cwd } = host;
  if (reading.form === 'none') return null;
  if (reading.form === 'sh') {
    const line = granted && reading.verdict === 'readable' ? rebuilt(reading.words, host) : reading.line;
    return { form: 'sh', file: shellFile, argv: [shellFile, '-c', line], env_set: {}, cwd, program: null };
  }
  const program = host.resolveProgram(reading.words[0] ?? '', cwd);
  return { form: 'argv', file: program?.real ?? null, argv: reading.words, env_set: {}, cwd, program };
}

function rebuilt(words: readonly string[], host: PolicyHost): string {
  const [word = '', ...rest] = words;
  const file = host.resolveProgram(word, host.cwd)?.real ?? word;
  return [file, ...rest].map((text) => `'${text.replaceAll("'", `'\\''`)}'`).join(' ');
}
