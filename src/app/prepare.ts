import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Binaries } from '../gate/binaries.ts';
import { createPolicyHosts, foldsCase } from '../gate/facts.ts';
import type { InstructionsWatch } from '../gate/instructions-watch.ts';
import { createManagerTools, type ManagerDeps } from '../plans/manager-tools.ts';
import type { createBackends } from '../registry/backends.ts';
import type { createModels } from '../registry/models.ts';
import { createPullTool } from '../registry/pull-run.ts';
import type { createSetup } from '../registry/setup.ts';
import type { PrepareDeps } from '../runs/ports.ts';
import { createBuiltinTools } from '../tools/builtin.ts';
import { childEnvironment } from '../tools/environment.ts';
import type { createChains } from '../workspace/chains.ts';
import { readCommandTables } from '../workspace/command-tables.ts';
import type { createPolicies } from '../workspace/policies.ts';
import { instructionsWith } from './instructions.ts';
import type { RoomsInput } from './rooms-input.ts';
import { hideServerSecrets } from './server-token.ts';

type PrepareInput = RoomsInput & {
  readonly chains: ReturnType<typeof createChains>;
  readonly policies: ReturnType<typeof createPolicies>;
  readonly backends: Pick<ReturnType<typeof createBackends>, 'inUse'>;
  readonly models: ReturnType<typeof createModels>;
  readonly setup: ReturnType<typeof createSetup>;
  readonly binaries: Binaries;
  readonly watch: InstructionsWatch;
  readonly planManager: () => Promise<ManagerDeps>;
  readonly sources: PrepareDeps['sources'];
};

/** What a run is prepared from: documents, settings, readiness, tools and the machine that the policy looks at. */
export function prepareDeps(input: PrepareInput): PrepareDeps {
  const { options, machine, workspace, store, chains, policies, models, setup, now } = input;
  const { settings } = store;
  return {
    loadChain: chains.loadChain,
    openPolicy: policies.openPolicy,
    settings: () => ({
      max_rounds: settings.value('max-rounds'),
      max_tool_result_bytes: settings.value('max-tool-result-bytes'),
      tool_parallelism: settings.value('tool-parallelism'),
      think: settings.value('think'),
      shell_env: settings.value('shell-env'),
    }),
    settingsFault() {
      const fault = settings.userFault();
      return fault === null ? null : `${fault.message.replace(/\.$/, '')} (${fault.mend})`;
    },
    defaults: models.defaults,
    knowSecrets() {
      input.backends.inUse();
      hideServerSecrets(machine.reinsHome, input.secrets);
    },
    preRun: (wanted, loaded) =>
      setup.preRun(wanted, {
        models: loaded.policy.compute.modelAllowlist,
        backends: loaded.policy.compute.backendAllowlist,
      }),
    tools: ({ shell, plans }) => [
      ...(plans && settings.value('plan-manager') ? createManagerTools(input.planManager) : []),
      ...createBuiltinTools({
        shell: shell || settings.value('shell'),
        shellTimeoutS: settings.value('shell-timeout') / 1000,
        marks: store.documents.marks,
        web: {
          privateHosts: settings.value('web-private-hosts'),
          timeoutMs: settings.value('web-timeout'),
          proxy: settings.value('web-proxy'),
          userAgent: `reins/${options.version}`,
          ownPorts: () => options.serving?.ports() ?? [],
        },
      }),
    ],
    pullTool: () => createPullTool(models.pullModel),
    noteInstructions: input.watch.note,
    instructions: instructionsWith(input),
    sources: input.sources,
    commandTables: () => readCommandTables(machine.reinsHome, machine.uid),
    hosts: ({ root, confined, named, path, tables }) =>
      createPolicyHosts(
        {
          platform: process.platform,
          shell: 'sh',
          workspace: root,
          home: machine.home,
          caseInsensitivePaths: foldsCase(root),
          path,
          confined,
          database: workspace.dbPath,
          reinsHome: machine.reinsHome,
          dataDir: workspace.dataDir,
          secretFiles: [options.environment['REINS_JWT_SECRET_FILE']].flatMap((file) =>
            file === undefined || file === '' ? [] : [resolve(options.cwd, file)],
          ),
          namedFiles: named,
          installation: fileURLToPath(options.root),
          pid: process.pid,
          ...(tables === undefined ? {} : { commandTables: tables }),
        },
        input.binaries,
      ),
    environment: (runId, allow) =>
      childEnvironment({ parent: options.environment, allow, marker: runId, term: 'dumb' }),
    workspace: { root: workspace.root, cwd: workspace.cwd, home: machine.home },
    surface: options.surface,
    owner: store.owner,
    tenant: options.tenant,
    now,
  };
}
