import type { Services } from '../client/local-client.ts';
import type { RouteClient } from '../client/routes.ts';
import { policies as policyTable } from '../client/operations/policies.ts';
import { createBinaries } from '../gate/binaries.ts';
import { createBudget } from '../gate/budget.ts';
import { createGate } from '../gate/call.ts';
import { createProviderSetUp } from '../registry/provider-set-up.ts';
import { createBackends } from '../registry/backends.ts';
import { createModels } from '../registry/models.ts';
import { createObserver } from '../registry/observe.ts';
import { createSetup } from '../registry/setup.ts';
import { createRuns } from '../runs/runs.ts';
import { createChangeJournal } from '../tools/files/change-journal.ts';
import { machineKey } from '../store/private-file.ts';
import { createSpool } from '../tools/spool.ts';
import type { ToolPorts } from '../tools/tool.ts';
import { createChains } from '../workspace/chains.ts';
import type { ChainFinderDeps } from '../workspace/find-chain.ts';
import { createPolicies } from '../workspace/policies.ts';
import { attendWith } from './attention.ts';
import { deleteSessionWith } from './delete-session.ts';
import { watchInstructions } from './instructions-watch.ts';
import { inspectWith } from './inspect.ts';
import { freeBytes, pidStart } from './machine.ts';
import { maskResultWith } from './mask-result.ts';
import { lazyServices } from './lazy-services.ts';
import { prepareDeps } from './prepare.ts';
import { planServices } from './plan-services.ts';
import { keepTidy, openPruning, toolOutput } from './pruning.ts';
import type { RoomsInput } from './rooms-input.ts';
import { openSessionTurns } from './session-turns.ts';
import { openSourceRooms } from './source-rooms.ts';
import { openTrustRooms } from './trust-rooms.ts';
import { openTrustedPrograms } from './trusted-programs.ts';

/** The services of an opened database, and what must be closed with it. */
export type Rooms = {
  readonly services: Omit<Services, 'initialise' | 'foreignDatabase' | 'acceptDatabase'>;
  /** Those of the table of routes. */
  routes(): Promise<RouteClient>;
  /** What `init <provider>` registers and sets. */
  readonly setUpProvider: ReturnType<typeof createProviderSetUp>;
  /** Suspends what runs (09 §1.5); a call that is being executed may end within the time. */
  rest(withinMs: number): Promise<void>;
  /** Ends what runs; the database is closed by whoever opened it. */
  close(): Promise<void>;
};

// True because the table is a constant of these names.
const policyOperations = [...Object.keys(policyTable), 'listTools'] as (keyof typeof policyTable | 'listTools')[];

/** Puts the rooms together. Each service has the names and types of its section of the table of operations. */
export function openRooms(input: RoomsInput): Rooms {
  const { options, machine, workspace, trust, secrets, pools, store, now } = input;
  const { settings } = store;
  const ollama = {
    url: options.ollama?.value ?? 'http://127.0.0.1:11434',
    explicit: options.ollama?.source === 'flag',
  };
  const finder: ChainFinderDeps = {
    workspace,
    configured: (use) => settings.value(use === 'chat' ? 'default-chain' : 'attention-chain'),
  };
  const chains = createChains({
    ...finder,
    uid: machine.uid,
    trust,
    providers: () => store.registry.toolsets(),
  });
  const policies = createPolicies({
    workspace,
    uid: machine.uid,
    trust,
    configured: () => settings.value('hitl-policy-name'),
  });
  const binaries = createBinaries({ hash: pools.hash, now });
  const observer = createObserver({
    store: store.registry,
    secrets,
    environment: options.environment,
    workspace: workspace.root,
    now,
  });
  const backends = createBackends({
    store: store.registry,
    secrets,
    observer,
    record: store.record,
    now,
    workspace,
    home: machine.reinsHome,
    ollama,
  });
  const models = createModels({
    store: store.registry,
    backends,
    observer,
    settings,
    record: store.record,
    now,
    given: { model: options.model, provider: options.provider },
  });
  const tools = openSourceRooms(input);
  const setup = createSetup({
    store: store.registry,
    backends,
    observer,
    models,
    settings,
    secrets,
    ollama,
    workspace: workspace.root,
    now,
    written: () => `${store.audit.last()} ${store.runs.unheld()}`,
    inspect: inspectWith({ ...input, chains, policies, binaries, prepare: () => prepare }),
    sources: tools.checks,
    tell: store.tellSetup,
  });
  const spool = createSpool({
    directory: toolOutput(machine.reinsHome),
    runsOf: (scope) => store.runs.idsOfSession(scope),
    now,
  });
  const journal = createChangeJournal({
    directory: toolOutput(machine.reinsHome),
    key: () => machineKey(machine.reinsHome, true),
  });
  const { marks, lockPath } = store.documents;
  const ports: ToolPorts = { spawn: pools.spawn, findInLine: pools.findInLine, marks, spool, journal, lockPath, now };
  const instructions = watchInstructions(input);
  const budget = createBudget(store);
  const gate = createGate({
    ...store,
    budget,
    instructions,
    now,
    ports,
    pidStart,
    mask: secrets.maskDeep,
    maskKnown: secrets.maskKnownDeep,
    maskResult: maskResultWith(secrets),
    freeBytes: () => freeBytes(workspace.dbPath),
    attend: attendWith({ ...store, chain: () => settings.value('attention-chain'), runs: () => runs, now }),
  });
  const plans = planServices({ store, secrets, prepare: () => prepare, runs: () => runs, now });
  const prepare = prepareDeps({
    ...input,
    chains,
    policies,
    backends,
    models,
    setup,
    binaries,
    watch: instructions,
    planManager: plans.manager,
    sources: tools.sources,
  });
  const { resumed, ...turns } = openSessionTurns({ ...input, chains, runs: () => runs, tools: prepare.tools });
  const runs = createRuns({
    ...store,
    now,
    gate,
    budget,
    pools,
    mask: secrets.maskDeep,
    maskKnown: secrets.maskKnownDeep,
    maskStream: secrets.stream,
    routes: models.routes,
    prepare,
    storedChain: chains.storedChain,
    ...resumed,
    afterStep: plans.afterStep,
    mostActive: options.serving === undefined ? null : () => settings.value('beam-max-runs'),
  });
  const closing = new AbortController();
  const stopSweeping = store.asks.keepSwept();
  const tidyLast = keepTidy([machine.reinsHome, workspace.dataDir], now);
  const trustOperations = openTrustRooms({ ...input, chains, policies, watch: instructions });
  const { trustContent } = trustOperations;
  const programs = openTrustedPrograms({ ...input, policies, binaries, prepare, trustContent });
  return {
    services: {
      ...store.services,
      ...backends,
      ...models,
      ...chains,
      ...trustOperations,
      ...lazyServices(policyOperations, async () => {
        const { policyServices } = await import('./policy-services.ts');
        return policyServices({ ...input, policies, binaries, prepare, chains, ...(await tools.forTrials()) });
      }),
      ...lazyServices(['answerAsk', 'editAsk', 'proposeRules'], async () => {
        const { answerServices } = await import('./answering.ts');
        return answerServices({ ...input, policies, prepare, backends, ...(await tools.forTrials()) });
      }),
      ...programs,
      ...tools.services,
      doctor: setup.doctor,
      ...lazyServices(['doctorBundle'], async () => {
        const { bundleServices } = await import('./bundle.ts');
        return bundleServices({ ...input, setup, backends, tools: tools.services });
      }),
      startRun: runs.startRun,
      deleteSession: deleteSessionWith({ ...store, going: runs }),
      ...turns,
      awaitRun: runs.awaitRun,
      resumeRun: async (wanted) =>
        runs.resumeRun({ ...wanted, run_id: await store.findRun(wanted.run_id) }, store.actor.by),
      ...plans.services,
      watch: runs.watch,
    },
    async routes() {
      const { routeServices } = await import('./route-services.ts');
      const parts = { policies, chains, finder, binaries, prepare, runs, setup, backends, models, trustOperations };
      return routeServices({
        ...input,
        ...parts,
        ...(await tools.forTrials()),
        cancelRun: plans.services.cancelRun,
        sendMessage: turns.sendMessage,
        summaries: turns,
        planRuns: plans.services,
        sources: tools.services,
        closing: closing.signal,
      });
    },
    setUpProvider: createProviderSetUp({ settings, backends, models }),
    async rest(withinMs) {
      closing.abort();
      await runs.rest(withinMs);
    },
    async close() {
      closing.abort();
      stopSweeping();
      await runs.close();
      await tools.close();
      observer.close();
      // Everything has been printed by now: old runs and files keep nobody waiting (05 §2.5.2, 11 §1.2.2).
      store.lostRuns.mark();
      spool.sweep();
      openPruning({ ...store, tenant: options.tenant, reinsHome: machine.reinsHome, now }).due();
      tidyLast();
    },
  };
}
