import type { Chain } from '../schema/chain.ts';

/** A directory that a task narrows its tools to, and where the chain says so. */
export type AllowedDir = { readonly at: string; readonly directory: string };

/** Each `_allowed_dir` of a chain that is known before the run (05 §2.7): one with a macro is told when its task runs. */
export const allowedDirs = ({ tasks }: Chain): readonly AllowedDir[] =>
  tasks.flatMap(({ execute_config: config }, task) =>
    Object.entries(config?.tools_policies ?? {}).flatMap(([provider, { _allowed_dir: directory }]) =>
      directory === undefined || directory.includes('{{')
        ? []
        : [{ at: `$.tasks[${task}].execute_config.tools_policies.${provider}._allowed_dir`, directory }],
    ),
  );
