import type { TuiOptions } from './options.ts';

/** The policy of what this program starts from now on: as flags say, until another one is chosen here. */
export function createGoverning(options: Pick<TuiOptions, 'policy' | 'request' | 'planOptions'>) {
  let chosen: string | null = null;
  const under = <T>(given: T): T => (chosen === null ? given : { ...given, policy: chosen });
  const request: TuiOptions['request'] = async (client) => under(await options.request(client));
  const planOptions: TuiOptions['planOptions'] = async (client, uses) => under(await options.planOptions(client, uses));
  return {
    /** Null = the one that is configured. */
    policy: (): string | null => chosen ?? options.policy,
    /** A run that goes on keeps the policy that it began with. */
    choose(policy: string): void {
      chosen = policy;
    },
    request,
    planOptions,
  };
}
