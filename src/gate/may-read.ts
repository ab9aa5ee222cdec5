import type { Evaluation, LoadedPolicy } from '../schema/policy.ts';
import { decide } from './decide.ts';
import type { CallHost } from './facts.ts';

export type ReadVerdict = {
  /** Why nobody may read it without a question; null = a model may. */
  readonly refused: string | null;
  /** The file that was judged; whoever reads it must find that one (decision 195). Null when nothing is there. */
  readonly real: string;
  readonly identity: string | null;
};

/**
 * Whether a model could read a file without anybody being asked: the evaluation of the call that it would make. Nothing is
 * read here. Never rejects.
 * @param path relative to the directory of the host
 */
export async function mayRead(loaded: LoadedPolicy, host: CallHost, path: string): Promise<ReadVerdict> {
  const call = { tools: 'local_fs', tool: 'read_file', args: { path } };
  const evaluation = await decide(loaded, call, host);
  const real = host.realPath(`${host.cwd}/${path}`);
  return { refused: refusalOf(evaluation), real, identity: host.identityOf(real) };
}

function refusalOf({ action, matched_rule: rule, reason, detail, policy }: Evaluation): string | null {
  if (action === 'allow') return null;
  const why =
    rule !== null && reason === 'matched_rule' ? ` by rule ${rule + 1}` : detail === null ? '' : ` (${detail})`;
  return `the policy ${policy.name} ${action === 'deny' ? 'denies' : 'asks about'} reading it${why}`;
}
