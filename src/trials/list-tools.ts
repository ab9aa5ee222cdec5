import type { ToolSpec } from '../schema/message.ts';
import type { StartRun } from '../schema/run.ts';
import type { ListedTool, RegisteredTool } from '../schema/tool-sources.ts';
import { createJudge } from './judge.ts';
import { hostsFor, rootOf, type TrialDeps } from './trial.ts';

export type ListToolsDeps = TrialDeps & {
  readonly builtin: () => readonly ToolSpec[];
  /** Those of hooks and tool servers, from their last listings. */
  readonly registered: () => Promise<readonly RegisteredTool[]>;
  /** Which tools a chain of that name may call. @throws as a run that cannot load it */
  readonly usedBy: (chain: string) => Promise<IsUsed>;
  /** Which tools a turn would offer. @throws as a turn that cannot load its chain */
  readonly offered: (turn: AskedTurn) => Promise<IsUsed>;
};

type IsUsed = (tools: string, tool: string) => boolean;
/** What of a turn decides which tools it offers. */
export type AskedTurn = Pick<StartRun, 'chain_path' | 'chain_name' | 'trust' | 'shell'>;

/** All tools with what the policy would say of each (09 §6.10). Contacts nobody. */
export function createListTools(deps: ListToolsDeps) {
  return {
    /** Sorted by provider and tool. @throws RuntimeError policy_not_found, not_trusted, and as loading a chain does */
    async listTools(input: {
      readonly policy: string | null;
      readonly chain: string | null;
      readonly turn?: AskedTurn | undefined;
    }): Promise<ListedTool[]> {
      const loaded = (await deps.openPolicy({ name: input.policy, trust: [] })).current();
      const isUsed: IsUsed = input.chain === null ? () => true : await deps.usedBy(input.chain);
      const isOffered: IsUsed = input.turn === undefined ? () => true : await deps.offered(input.turn);
      const trial = await createJudge();
      const place = rootOf(deps, null);
      const host = hostsFor(deps, place, loaded)(place.root);
      const own = deps.builtin().map((spec): RegisteredTool => {
        const { tools, tool, description, input_schema } = spec;
        return { tools, tool, source: 'builtin', description, schema: input_schema, state: 'ready' };
      });
      return [...own, ...(await deps.registered())]
        .filter(({ tools, tool }) => isUsed(tools, tool) && isOffered(tools, tool))
        .map((one): ListedTool => {
          const call = { tools: one.tools, tool: one.tool, args: {} };
          return { ...one, default_decision: trial.judge(loaded, call, host).action };
        })
        .sort((a, b) => (`${a.tools}.${a.tool}` < `${b.tools}.${b.tool}` ? -1 : 1));
    },
  };
}
