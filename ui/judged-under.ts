import type { RuntimeClient } from '../src/client/operations.ts';
import type { StartRun } from '../src/schema/run.ts';
import type { TuiOptions } from './options.ts';

export type JudgedUnder = Pick<StartRun, 'policy' | 'trust' | 'allowed_dir'>;

/** What the next turn would be judged under, and where relative paths of its calls begin. */
export function createJudgedUnder({ client, request }: Pick<TuiOptions, 'client' | 'request'>): {
  under(): Promise<JudgedUnder>;
  root(): Promise<string>;
} {
  let root: Promise<string> | null = null;
  const under = async (): Promise<JudgedUnder> => {
    const { policy, trust, allowed_dir } = await request(await client());
    return { policy, trust, allowed_dir };
  };
  const rootOf = async (made: RuntimeClient): Promise<string> =>
    (await under()).allowed_dir ?? (await made.doctor({ probe: false })).root;
  return {
    under,
    root() {
      root ??= client().then(rootOf);
      // What failed once is asked anew.
      root.catch(() => {
        root = null;
      });
      return root;
    },
  };
}
