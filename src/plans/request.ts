import type { PlanRunOptions } from '../schema/plan.ts';
import type { StartRun } from '../schema/run.ts';

/** The request of a run that a plan starts: its chain goes by its kind, and nothing of it comes from a face but options. */
export const planRequest = (
  options: PlanRunOptions,
  own: {
    readonly text: string;
    readonly variables: Readonly<Record<string, string>>;
    readonly shell?: boolean;
    /** In place of the default; empty = none. */
    readonly model?: string;
    readonly provider?: string;
  },
): StartRun => ({
  ...options,
  input: { type: 'string', value: own.text },
  chain_path: null,
  model: own.model || options.model,
  provider: own.provider || options.provider,
  shell: own.shell === true,
  variables: { ...own.variables },
  images: [],
});
