import type { LoadedPolicy } from '../schema/policy.ts';
import { decide } from './decide.ts';
import type { CallHost } from './facts.ts';

export type ReadVerdict =
  /** The file that was judged; whoever reads it must find that one (decision 195). */
  | { readonly allowed: true; readonly real: string; readonly identity: string | null }
  | { readonly allowed: false; readonly why: string };

/**
 * Whether a model could read a file without anybody being asked: the evaluation of the call that it would make. Nothing is
 * read here. Never rejects.
 * @param path relative to the directory of the host
 */
export async function mayRead(loaded: LoadedPolicy, host: CallHost, path: string): Promise<ReadVerdict> {
  const call = { tools: 'local_fs', tool: 'read_file', args: { path } };
  const { action, matched_rule: rule, policy } = await decide(loaded, call, host);
  if (action !== 'allow') {
    const word = action === 'deny' ? 'denies' : 'asks about';
    const by = rule === null ? '' : ` by rule ${rule + 1}`;
    return { allowed: false, why: `the policy ${policy.name} ${word} reading it${by}` };
  }
  const real = host.realPath(`${host.cwd}/${path}`);
  return { allowed: true, real, identity: host.identityOf(real) };
}
