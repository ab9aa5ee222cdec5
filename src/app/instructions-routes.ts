import { join } from 'node:path';
import type { RouteClient } from '../client/routes.ts';
import type { PrepareDeps } from '../runs/ports.ts';
import { foretoldInstructions } from '../runs/prepare.ts';
import { type Instructions, instructionsName } from '../schema/instructions.ts';
import type { StartRun } from '../schema/run.ts';
import { sizeOf } from './file-access.ts';

export type InstructionsRouteDeps = {
  readonly prepare: PrepareDeps;
  /** User-level directory. */
  readonly reinsHome: string;
  /** The value of `project-instructions`. */
  readonly given: () => boolean;
  readonly request: (wanted: {
    readonly chain?: string | undefined;
    readonly policy?: string | undefined;
  }) => Omit<StartRun, 'input'>;
};

/** What the next message of a chat would have of files with instructions for agents, for whoever writes it. */
export function instructionsRoutes(deps: InstructionsRouteDeps): Pick<RouteClient, 'listInstructions'> {
  const pathOf = {
    project: join(deps.prepare.workspace.root, instructionsName),
    user: join(deps.reinsHome, instructionsName),
  };

  /** A run says nothing of a file that is left out by config; who looks for it is told. */
  const leftOut = (): readonly Instructions[] => {
    const bytes = deps.given() ? null : sizeOf(pathOf.project);
    if (bytes === null) return [];
    const withheld = 'config project-instructions is false';
    const mend = 'reins config unset project-instructions';
    return [{ source: 'project', bytes, cut: false, withheld, mend, text: '' }];
  };

  return {
    async listInstructions(wanted) {
      const input: StartRun = { ...deps.request(wanted), input: { type: 'string', value: '' } };
      const found = [...(await foretoldInstructions(deps.prepare, 'chat', input)), ...leftOut()];
      return found.map(({ text, ...view }) => ({
        ...view,
        path: pathOf[view.source],
        text: text === '' ? null : text,
      }));
    },
  };
}
