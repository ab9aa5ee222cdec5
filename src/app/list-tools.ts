import { createCatalog } from '../tools/catalog.ts';
import { createListTools } from '../trials/list-tools.ts';
import type { RegisteredTool } from '../schema/tool-sources.ts';
import type { Chains } from '../workspace/chains.ts';
import { type TrialInput, trialDeps } from './trial-deps.ts';

/** The operation of `client/operations/tools.ts`. */
export function listToolsService(
  input: TrialInput & { readonly chains: Chains; readonly registeredTools: () => Promise<readonly RegisteredTool[]> },
) {
  return createListTools({
    ...trialDeps(input),
    builtin: () => createCatalog(input.prepare.tools({ shell: true, plans: true })).list(),
    registered: input.registeredTools,
    usedBy: async (name) => {
      const chain = await input.chains.loadChain({ use: 'run', path: null, name, trust: [] });
      return (tools, tool) => chain.mayUse(tools, tool);
    },
    offered: async ({ chain_path: path, chain_name: name, trust, shell }) => {
      const chain = await input.chains.loadChain({ use: 'chat', path, name, trust });
      return (tools, tool) => (shell || tools !== 'local_shell') && chain.mayUse(tools, tool);
    },
  });
}
