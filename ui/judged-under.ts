import type { StartRun } from '../src/schema/run.ts';
import type { TuiOptions } from './options.ts';

export type JudgedUnder = Pick<StartRun, 'policy' | 'trust' | 'allowed_dir'>;

/** What the next turn would be judged under, and where relative paths of its calls begin. */
export function createJudgedUnder({ client, request, root }: Pick<TuiOptions, 'client' | 'request' | 'root'>): {
  under(): Promise<JudgedUnder>;
  root(): Promise<string>;
} {
  const under = async (): Promise<JudgedUnder> => {
    const { policy, trust, allowed_dir } = await request(await client());
    return { policy, trust, allowed_dir };
  };
  return { under, root: async () => (await under()).allowed_dir ?? (await root()) };
}
