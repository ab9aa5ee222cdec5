import { realpath } from 'node:fs/promises';
import type { RuntimeClient } from '../src/client/operations.ts';
import type { Action } from './actions.ts';

export type PassingEditsDeps = {
  readonly dispatch: (action: Action) => void;
  /** The id of the session that is open. */
  readonly session: () => string | null;
  /** Root of the workspace. */
  readonly root: () => Promise<string>;
};

/**
 * Says in which policies edits of files here pass unasked in the session that is open, as it is stored: it was said in
 * another process as well, or is ended there (03 §9). Never throws.
 */
export async function lookAtEdits(client: RuntimeClient, deps: PassingEditsDeps): Promise<void> {
  const session = deps.session();
  if (session === null) return;
  try {
    const choices = await client.listRemembered({ session });
    const edits = choices.filter(({ kind }) => kind === 'edits');
    // The choice is of a workspace, under the path that the policy sees.
    const root = edits.length === 0 ? '' : await realpath(await deps.root());
    const policies = edits.filter(({ what }) => what === root).map(({ policy_sha256 }) => policy_sha256);
    if (deps.session() === session)
      deps.dispatch({ type: 'edits-pass', edits: policies.length === 0 ? null : { session, policies } });
  } catch {
    // What cannot be read now is read again soon; whatever passes is in the transcript, as remembered.
  }
}
