import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { pathValue } from '../policy/paths.ts';
import type { CommandReading } from '../schema/command.ts';
import { isInterpreter } from '../policy/programs.ts';
import type { ExecFact, FileIdentity, PolicyCall, PolicyHost } from '../schema/policy.ts';
import { baseName } from '../shell/programs.ts';
import type { Tool } from '../tools/tool.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import type { Prepared } from './stages.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What a verdict is about (03 §3): unmasked final arguments, directory, and what would be executed. */
export function callHash(call: PolicyCall, cwd: string, exec: ExecFact | null): string {
  const executed = exec === null ? null : { form: exec.form, file: exec.file, argv: exec.argv };
  return sha256(canonicalJson({ v: 1, tools: call.tools, tool: call.tool, args: call.args, cwd, exec: executed }));
}

/**
 * A digest of where the directory and the path of a call lead, and of what else its words stand for: the same words mean
 * another file once a link stands among them, and another plan once that is the active one.
 */
export function placesOf({ call, meant }: Pick<Prepared, 'call' | 'meant'>, host: PolicyHost): string {
  const { path } = call.args;
  const named = typeof path === 'string' && !path.includes('\0') ? pathValue(path, host).real() : null;
  return sha256(JSON.stringify([host.realPath(host.cwd), named, ...(meant === null ? [] : [meant])]));
}

/**
 * A digest of the files that the commands of a call start, by identity: one that was rebuilt or written over is another
 * program, though its path is the same (03 §3.4). So is the script that an interpreter is given. Null for a call without
 * commands.
 */
export function programsOf(reading: CommandReading | null, host: PolicyHost): string | null {
  if (reading === null || reading.form === 'none') return null;
  const files = reading.commands.flatMap(({ words, directories }) =>
    directories.map((directory) => {
      const cwd = resolve(host.cwd, directory.replaceAll('\0', host.home));
      const [word = '', ...rest] = words.map(({ text }) => text);
      const program = host.resolveProgram(word, cwd);
      const script = readsScript(word) ? scriptOf(rest, cwd, host) : null;
      const own = program === null ? null : [program.real, ...identityOf(program)];
      return script === null ? own : [own, script];
    }),
  );
  return sha256(JSON.stringify(files));
}

/** A shell reads what `.` names as if it stood in the line. */
const readsScript = (word: string): boolean => word === '.' || word === 'source' || isInterpreter(baseName(word));

/** Most operands that are looked at. */
const mostOperands = 32;

/** The first operand that is a file which can be read: what stands before it may be the value of an option. */
function scriptOf(rest: readonly string[], cwd: string, host: PolicyHost): readonly string[] | null {
  const operands = rest.filter((word) => word !== '' && !/^[-+]/.test(word) && !word.includes('\0'));
  for (const operand of operands.slice(0, mostOperands)) {
    const real = host.realPath(resolve(cwd, operand));
    const file = host.binary(real, false);
    if (file.state === 'read') return [real, ...identityOf(file.identity)];
  }
  return null;
}

/** What stands behind a tool that is not the program's own, as such a digest. */
export const originOf = ({ origin }: Pick<Tool, 'origin'>): string | null =>
  origin === undefined ? null : sha256(origin);

const identityOf = ({ dev, ino, size, mtime_ns, ctime_ns }: FileIdentity): readonly string[] => [
  dev,
  ino,
  size,
  mtime_ns,
  ctime_ns,
];

/** What an answer was given to: the call under this policy and this state of the file it changes (03 §3). */
export const bindingOf = (hash: string, policySha256: string | null, preimage: string | null): string =>
  sha256(`${hash}:${policySha256 ?? 'none'}:${preimage ?? 'none'}`);

export const textSha256 = sha256;
