import { evaluate } from '../policy/evaluate.ts';
import type { CommandReading } from '../schema/command.ts';
import type { Evaluation, LoadedPolicy, PolicyCall, PolicyHost } from '../schema/policy.ts';
import { loadParser, readCallWith, readOtherLine } from '../shell/read-line.ts';

/** A machine that may have to take digests before it can tell them. */
export type TrialHost = PolicyHost & {
  /** Takes the digests that an evaluation asked for. @returns whether to evaluate again. Never rejects. */
  hashAsked?(): Promise<boolean>;
};

/** Judges calls as the gate does, and does nothing else: nothing is executed, asked or written. */
export type Judge = {
  judge(loaded: LoadedPolicy, call: PolicyCall, host: PolicyHost, trace?: boolean): Evaluation;
  /** Has the machine take every digest that this judgement needs (02 §10). Never rejects. */
  prime(loaded: LoadedPolicy, call: PolicyCall, host: TrialHost): Promise<void>;
  /** How a shell call is read; null for any other. */
  read(call: PolicyCall): CommandReading | null;
  /** The words of each command of a shell call that an allowlist may judge; null for any other. */
  commandsOf(call: PolicyCall): readonly (readonly string[])[] | null;
  /** The words of a shell call that is one command of literal words; null for any other. */
  wordsOf(call: PolicyCall): readonly string[] | null;
};

/** The only reader of command lines of this room; resolves when all that it reads with is loaded. */
export async function createJudge(): Promise<Judge> {
  const parse = await loadParser();
  const read = (call: PolicyCall): CommandReading | null =>
    call.tools === 'local_shell' ? readCallWith(call.args, parse) : null;
  const readLine = (line: string): CommandReading => readOtherLine(line, parse);
  const judge: Judge['judge'] = (loaded, call, host, trace = false) => {
    const reading = read(call);
    return evaluate(loaded, call, host, { ...(reading === null ? {} : { reading }), readLine, trace });
  };
  const commandsOf: Judge['commandsOf'] = (call) => {
    const reading = read(call);
    if (reading === null || reading.form === 'none' || !reading.grant.ok) return null;
    return reading.grant.line.commands.map(({ words }) => words);
  };
  return {
    judge,
    read,
    commandsOf,
    async prime(loaded, call, host) {
      if (loaded.policy.trusted_binaries === null) return;
      do judge(loaded, call, host);
      while ((await host.hashAsked?.()) === true);
    },
    wordsOf(call) {
      const [command, ...more] = commandsOf(call) ?? [];
      return command === undefined || more.length > 0 ? null : command;
    },
  };
}
