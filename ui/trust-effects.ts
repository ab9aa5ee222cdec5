import type { RuntimeClient } from '../src/client/operations.ts';
import { instructionsName } from '../src/schema/instructions.ts';
import type { UntrustedContent } from '../src/schema/overlay.ts';
import { plural } from '../src/view/format.ts';
import type { Action } from './actions.ts';
import type { Effect } from './effect.ts';
import { trustOverlay } from './overlays/trust-view.ts';

export type TrustEffects = {
  /** Puts a question for each content that nobody trusts yet. @param all those of plans too, and said when there is none */
  review(all: boolean): Promise<void>;
  answer(answer: Extract<Effect, { do: 'trust' }>): Promise<void>;
};

export type TrustDeps = {
  readonly client: () => Promise<RuntimeClient>;
  readonly untrusted: (client: RuntimeClient, all: boolean) => Promise<readonly UntrustedContent[]>;
  /** Questions about changed tools, which lie below those of trust. @returns false when there is none */
  readonly definitions: () => Promise<boolean>;
  readonly trustOnce: (sha256: string) => void;
  readonly dispatch: (action: Action) => void;
  readonly say: (text: string, bad: boolean) => void;
  readonly now: () => number;
};

async function withInstructions(client: RuntimeClient): Promise<string> {
  const { instructions } = await client.doctor({ probe: false });
  const isGiven = instructions.some(({ source, withheld }) => source === 'project' && withheld === null);
  return isGiven ? `, ${instructionsName} with it,` : '';
}

const bannerId = 'untrusted';

/** The questions of trust, and what the answers do (10 §1.4.3). */
export function createTrustEffects({ client: clientOf, dispatch, say, now, ...deps }: TrustDeps): TrustEffects {
  const refused = new Set<string>();
  return {
    async review(all) {
      const client = await clientOf();
      const open = await deps.untrusted(client, all);
      // Instructions come with anything else that is trusted, as its question says.
      const others = open.filter(({ kind, changed }) => kind !== 'agent' || changed === true);
      const [first, ...waiting] = others.length === 0 ? open : others;
      const held = all && (await deps.definitions());
      if (first !== undefined) dispatch({ type: 'overlay', overlay: trustOverlay(first, waiting, now()) });
      else if (all && !held) {
        const what = `everything that the project brings${await withInstructions(client)} is trusted`;
        say(`${what}, and no tool has changed`, false);
      }
    },
    async answer({ content: { kind, path, sha256 }, how }) {
      if (how === 'trust') await (await clientOf()).trustContent({ path, sha256, by: 'prompt' });
      if (how === 'once') deps.trustOnce(sha256);
      // Nothing is refused for instructions that are not given.
      if (how === 'refuse' && kind !== 'agent') refused.add(path);
      else refused.delete(path);
      if (refused.size === 0) return dispatch({ type: 'no-banner', id: bannerId });
      const [one] = refused;
      const text =
        refused.size === 1
          ? `the ${kind} ${one} is not trusted`
          : `${plural(refused.size, 'file')} of the project are not trusted`;
      dispatch({ type: 'banner', banner: { rank: 2, id: bannerId, text: `${text}: /trust`, fixed: false } });
    },
  };
}
