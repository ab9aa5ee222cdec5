import { join } from 'node:path';
import { createInstructionsWatch, type InstructionsWatch } from '../gate/instructions-watch.ts';
import { RuntimeError } from '../schema/errors.ts';
import { instructionsName } from '../schema/instructions.ts';
import type { RoomsInput } from './rooms-input.ts';

/** Watches the two files that `instructions.ts` gives to models: the project's, and the user's own. */
export function watchInstructions({
  machine,
  workspace,
  trust,
  store,
  now,
}: Pick<RoomsInput, 'machine' | 'workspace' | 'trust' | 'store' | 'now'>): InstructionsWatch {
  const roots = new Map([workspace.root, machine.reinsHome].map((root) => [join(root, instructionsName), root]));
  return createInstructionsWatch({
    ...store,
    now,
    paths: [...roots.keys()],
    changeable: workspace.root === machine.reinsHome ? '' : join(workspace.root, instructionsName),
    isTrusted(path, sha256) {
      try {
        const root = roots.get(path);
        return root !== undefined && trust.isTrusted({ kind: 'agent', root, path, sha256 });
      } catch (error) {
        // The file of trust decisions may not be believed; who needs it says so.
        if (error instanceof RuntimeError) return false;
        throw error;
      }
    },
  });
}
