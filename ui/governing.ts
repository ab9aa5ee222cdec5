import type { TuiOptions } from './options.ts';

/** What holds for everything that this program starts from now on: as flags say, until another thing is chosen here. */
export function createGoverning(options: Pick<TuiOptions, 'policy' | 'shell' | 'request' | 'planOptions'>) {
  let chosen: string | null = null;
  let { shell } = options;
  const under = <T>(given: T): T => (chosen === null ? given : { ...given, policy: chosen });
  const request: TuiOptions['request'] = async (client) => ({ ...under(await options.request(client)), shell });
  const planOptions: TuiOptions['planOptions'] = async (client, uses) => under(await options.planOptions(client, uses));
  return {
    /** Null = the one that is configured. */
    policy: (): string | null => chosen ?? options.policy,
    /** A run that goes on keeps the policy that it began with. */
    choose(policy: string): void {
      chosen = policy;
    },
    /** Whether runs have the tool `local_shell`; the policy rules each of its calls. */
    shell: (): boolean => shell,
    chooseShell(on: boolean): void {
      shell = on;
    },
    request,
    planOptions,
  };
}
