import { createHash } from 'node:crypto';
import type { ExecFact, PolicyCall } from '../schema/policy.ts';
import { canonicalJson } from '../text/canonical-json.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** What a verdict is about (03 §3): unmasked final arguments, directory, and what would be executed. */
export function callHash(call: PolicyCall, cwd: string, exec: ExecFact | null): string {
  const executed = exec === null ? null : { form: exec.form, file: exec.file, argv: exec.argv };
  return sha256(canonicalJson({ v: 1, tools: call.tools, tool: call.tool, args: call.args, cwd, exec: executed }));
}

/** What an answer was given to: the call under this policy and this state of the file it changes (03 §3). */
export const bindingOf = (hash: string, policySha256: string | null, preimage: string | null): string =>
  sha256(`${hash}:${policySha256 ?? 'none'}:${preimage ?? 'none'}`);

export const textSha256 = sha256;
