import type { CommandReading, ExecFact, PolicyHost } from '../schema/policy.ts';

/** What runs for a line: `argv` is what `/bin/sh` gets, the line as it was read. */
const shellFile = '/bin/sh';

/**
 * What a `local_shell` call would execute (02 §8, 05 §3.3): for an argument vector the resolved file with the words as
 * written, for a line `/bin/sh -c` with the exact line. Null for what the tool refuses. Nothing is looked up again.
 */
export function resolveExec(reading: CommandReading, host: PolicyHost): ExecFact | null {
  const { cwd } = host;
  if (reading.form === 'none') return null;
  if (reading.form === 'sh') {
    return { form: 'sh', file: shellFile, argv: [shellFile, '-c', reading.line], env_set: {}, cwd, program: null };
  }
  const program = host.resolveProgram(reading.words[0] ?? '', cwd);
  return { form: 'argv', file: program?.real ?? null, argv: reading.words, env_set: {}, cwd, program };
}
