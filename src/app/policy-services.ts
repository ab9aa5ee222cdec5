import type { Binaries } from '../gate/binaries.ts';
import { createComparison } from '../trials/compare.ts';
import { createExplain } from '../trials/explain.ts';
import { createPolicyTests } from '../trials/test-files.ts';
import { createReplay } from '../trials/replay.ts';
import { createSuggest } from '../trials/suggest.ts';
import type { Ask } from '../schema/ask.ts';
import type { LoadedPolicy } from '../schema/policy.ts';
import type { PrepareDeps } from '../runs/ports.ts';
import type { RegisteredTool } from '../schema/tool-sources.ts';
import type { Chains } from '../workspace/chains.ts';
import { parsePolicy } from '../policy/validate.ts';
import { createAddRule } from '../workspace/add-rule.ts';
import { layersOf } from '../workspace/files.ts';
import { createImportPolicy } from '../workspace/import-policy.ts';
import { createPolicyOperations } from '../workspace/policy-operations.ts';
import type { Policies } from '../workspace/policies.ts';
import { isPresetName } from '../workspace/presets/policies.ts';
import type { RoomsInput } from './rooms-input.ts';
import { addRuleDeps } from './add-rule-deps.ts';
import { listToolsService } from './list-tools.ts';
import { refusalWith } from './tool-refusal.ts';
import type { ArgumentNames } from './tool-sources.ts';
import { argumentNamesWith, trialDeps } from './trial-deps.ts';

type Input = RoomsInput & {
  readonly policies: Policies;
  readonly binaries: Binaries;
  readonly prepare: PrepareDeps;
  readonly chains: Chains;
  readonly registeredArguments: ArgumentNames;
  readonly registeredTools: () => Promise<readonly RegisteredTool[]>;
};

/** The operations of `client/operations/policies.ts`, and `listTools`. */
export function policyServices(input: Input) {
  const { workspace, policies, binaries, store, prepare, secrets, machine, now } = input;
  const ceilingSeconds = (): number | null => {
    const ceiling = store.settings.value('approval-ceiling');
    return ceiling === 'never' ? null : ceiling / 1000;
  };
  const registered = () => store.registry.toolsets();
  const trial = trialDeps(input);
  const rules = createAddRule(addRuleDeps(input));
  return {
    ...createPolicyOperations({
      workspace,
      policies,
      ceilingSeconds,
      registered,
      commandTables: async () => (await prepare.commandTables()).tables,
      binaries: { read: binaries.read, root: workspace.root },
    }),
    ...createExplain({
      ...trial,
      ceilingSeconds,
      mask: secrets.maskDeep,
      showAsk: store.asks.show,
      rootOfRun: store.runs.workspaceOf,
      policyOfAsk: (ask) => policyOfAsk(ask, policies, store.documents.policyText),
      refusal: refusalWith(prepare, registered),
    }),
    ...createPolicyTests({
      ...trial,
      uid: machine.uid,
      overlay: layersOf(workspace).map(({ directory }) => directory),
    }),
    ...createComparison({ ...trial, recorded: store.recorded, now }),
    ...createSuggest({
      ...trial,
      recorded: store.recorded,
      argumentNames: argumentNamesWith(prepare, input.registeredArguments),
    }),
    ...listToolsService(input),
    ruleTarget: rules.ruleTarget,
    addRule: rules.addRule,
    ...createImportPolicy({ home: machine.home, workspace }),
    ...createReplay({
      ...trial,
      recorded: store.recorded,
      sessionId: (name) => store.sessions.byName(name)?.id ?? null,
    }),
  };
}

async function policyOfAsk(
  ask: Ask,
  policies: Policies,
  textOf: (sha256: string) => string | null,
): Promise<LoadedPolicy | null> {
  const { name, source, sha256 } = ask.policy;
  if (sha256 === null) return null;
  if (source === 'builtin' && isPresetName(name)) {
    const { loaded } = await policies.readAt(name, name);
    if (loaded.identity.sha256 === sha256) return loaded;
  }
  const text = textOf(sha256);
  const policy = text === null ? null : (await parsePolicy(text)).policy;
  return text === null || policy === null ? null : { identity: ask.policy, policy, text, findings: [] };
}
