import { createApprovalRoutes } from '../asks/approval-routes.ts';
import type { Binaries } from '../gate/binaries.ts';
import type { RuntimeClient } from '../client/operations.ts';
import type { RouteClient } from '../client/routes.ts';
import { createBackendRoutes } from '../registry/backend-routes.ts';
import type { createBackends } from '../registry/backends.ts';
import { pullChain, pullVariables } from '../registry/pull-run.ts';
import { createConfigRoutes } from '../registry/config-routes.ts';
import type { createModels } from '../registry/models.ts';
import type { createSetup } from '../registry/setup.ts';
import type { PrepareDeps } from '../runs/ports.ts';
import { createRecorded } from '../runs/recorded.ts';
import { readUsage } from '../store/usage.ts';
import { createSourceRoutes, type SourceRouteDeps } from '../registry/source-routes.ts';
import { messageOf } from '../text/thrown.ts';
import { type PlanRouteInput, planRouteServices } from './plan-route-services.ts';
import { createRunRoutes } from '../runs/run-routes.ts';
import type { RunService } from '../runs/runs.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { RunStarted, SendMessage, StartRun } from '../schema/run.ts';
import type { Compaction } from '../sessions/compact.ts';
import { forkSession } from '../sessions/fork.ts';
import { createFindSession } from '../sessions/names.ts';
import { createSessionRoutes } from '../sessions/session-routes.ts';
import { createAskPages } from '../store/ask-pages.ts';
import { createAuditLog } from '../store/audit-log.ts';
import { createLogins } from '../store/logins.ts';
import { createRecordedRuns } from '../store/recorded-runs.ts';
import type { RegisteredTool } from '../schema/tool-sources.ts';
import { createSessionCopies } from '../store/session-copies.ts';
import { createTrialRoutes } from '../trials/trial-routes.ts';
import { cardData } from '../view/card-data.ts';
import { filePageBytes as most_bytes, sessionFile } from '../view/session-file.ts';
import { createChainRoutes } from '../workspace/chain-routes.ts';
import type { Chains } from '../workspace/chains.ts';
import { layersOf, sha256Of } from '../workspace/files.ts';
import type { ChainFinderDeps } from '../workspace/find-chain.ts';
import { findFiles } from '../workspace/find-files.ts';
import { realOf } from '../workspace/paths.ts';
import { importText } from '../workspace/import-policy.ts';
import type { Policies } from '../workspace/policies.ts';
import { createPolicyRoutes } from '../workspace/policy-routes.ts';
import type { TrustOperations } from '../workspace/trust-operations.ts';
import { createTrustRoutes } from '../workspace/trust-routes.ts';
import { answerServices } from './answering.ts';
import { createAuditRoutes } from './audit-routes.ts';
import { instructionsRoutes } from './instructions-routes.ts';
import { policyServices } from './policy-services.ts';
import type { RoomsInput } from './rooms-input.ts';
import { runRequest } from './run-request.ts';
import { refusalWith } from './tool-refusal.ts';
import type { ArgumentNames } from './tool-sources.ts';
import { argumentNamesWith, trialDeps } from './trial-deps.ts';
import { policyNameOf } from '../schema/document-name.ts';

type Input = RoomsInput & {
  readonly registeredArguments: ArgumentNames;
  readonly registeredTools: () => Promise<readonly RegisteredTool[]>;
  readonly policies: Policies;
  readonly chains: Chains;
  readonly finder: ChainFinderDeps;
  readonly binaries: Binaries;
  readonly prepare: PrepareDeps;
  readonly runs: RunService;
  readonly setup: ReturnType<typeof createSetup>;
  readonly backends: ReturnType<typeof createBackends>;
  readonly models: ReturnType<typeof createModels>;
  readonly trustOperations: TrustOperations;
  readonly cancelRun: RuntimeClient['cancelRun'];
  /** Operations of plans that start runs, and of tool sources. */
  readonly planRuns: PlanRouteInput['running'];
  readonly sources: Omit<SourceRouteDeps, 'listTools' | 'policy'>;
  /** Aborted when the program closes. */
  readonly closing: AbortSignal;
  readonly summaries: Pick<Compaction, 'compactSession' | 'forkWithSummary'>;
  readonly sendMessage: (input: SendMessage) => Promise<RunStarted & { readonly message_id: string }>;
};

const apiVersion = 1;
const policySchemaVersion = 1;

/** The operations that have routes (09 §6), each over the service that the command line uses too. */
export async function routeServices(input: Input): Promise<RouteClient> {
  const { options, machine, workspace, store, secrets, trust, policies, prepare, runs, now } = input;
  const { sessions, settings, actor } = store;
  const { tenant } = options;
  const recordedRuns = createRecordedRuns(store.sql, tenant, store.lostRuns.ids);
  const recorded = createRecorded({ ...store, recorded: recordedRuns, now, queuePlace: runs.placeOf });
  const copies = createSessionCopies(store.sql, tenant);
  const log = createAuditLog(store.sql, tenant);
  const find = createFindSession(sessions);
  const policyOperations = policyServices(input);
  const answers = answerServices(input);
  const request = runRequest({ options, settings, workspace });
  const governing = options.policy?.value ?? null;

  const resume = (runId: string, accept: boolean): Promise<RunStarted> =>
    runs.resumeRun(
      { run_id: runId, accept_changed_chain: accept, on_ask: 'ask', timeout_ms: request.timeoutMs },
      actor.by,
    );
  const endRun = async (run_id: string, reason: string): Promise<void> => {
    const here = runs.isGoing(run_id);
    await input.cancelRun({ run_id, reason, wait: true });
    if (here) await runs.awaitRun({ run_id });
  };
  const changed = (document: 'policy' | 'chain', file: string, sha256: string | null): void => {
    store.feed.commit('full', (record) => {
      const body = { document, name: file, sha256, by: actor.by };
      const type = `${document}_changed` as const;
      store.audit.append({ type, tenant_id: tenant, run_id: null, session_id: null, body }, now());
      const host = { run_id: null, session_id: null, mission_id: null, chain_id: '', tenant_id: tenant };
      record(host, { kind: 'document_changed', document, name: file, ...(sha256 === null ? {} : { sha256 }) });
    });
  };
  const overlay = { workspace, uid: machine.uid, now, trustContent: input.trustOperations.trustContent, changed };
  const policyRoutes = createPolicyRoutes({
    ...overlay,
    root: workspace.root,
    trust,
    operations: policyOperations,
    policy: governing,
  });
  // The same as long as this database is open.
  const { instanceId } = createLogins({ sql: store.sql, audit: store.audit, tenant, now });
  const trial = trialDeps(input);
  const refuse = refusalWith(prepare, () => store.registry.toolsets());

  return {
    getVersion: async () => ({
      version: options.version,
      api_version: apiVersion,
      schema_version: store.store.schema,
      instance_id: instanceId,
      tenant_id: tenant,
      workspace: workspace.root,
      data_dir: workspace.dataDirExists ? workspace.dataDir : null,
      database: workspace.dbPath,
      policy_schema_version: policySchemaVersion,
    }),
    ...createSessionRoutes({
      sessions,
      copies,
      calls: store.calls,
      thatSay: store.sessionsThatSay,
      passages: store.passagesThatSay,
      operations: store.services,
      forkSession: (wanted) => forkSession({ ...store, copies, find, now }, wanted),
      request: () => ({ ...request.of({}), input: { type: 'string', value: '' } }),
      summaries: input.summaries,
      openRuns: store.runs.openOfSession,
      endRun,
    }),
    async downloadSession({ session, format }) {
      const id = find(session).id;
      const kind = format ?? 'md';
      const more = (after: number) => store.services.exportSession({ session: { id }, after, most_bytes });
      const first = await more(0);
      const content_type = kind === 'md' ? 'text/markdown; charset=utf-8' : 'application/json; charset=utf-8';
      return { file: `${first.session.name}.${kind}`, content_type, pieces: sessionFile(kind, first, more) };
    },
    ...createRunRoutes({
      recorded,
      events: store.events,
      request: request.of,
      startRun: runs.startRun,
      sendMessage: input.sendMessage,
      async ensureSession(name) {
        if (name === 'default' && sessions.byName(name) === undefined) await store.services.newSession({ name });
      },
      cancelRun: input.cancelRun,
      resumeRun: resume,
      undo: store.services,
      openAsk: (runId) => store.asks.pendingOfRun(runId)[0] ?? null,
    }),
    ...createApprovalRoutes({
      pages: createAskPages(store.sql, tenant),
      sweep: store.asks.sweep,
      show: store.asks.show,
      answer: answers.answerAsk,
      edit: answers.editAsk,
      propose: (id) => answers.proposeRules({ id }),
      forget: (session) => store.forget(session),
      explain: (ask, asAsked) =>
        policyOperations.explainCall({
          call: null,
          ask,
          as_asked: asAsked,
          cwd: null,
          policy: governing,
          trust: [],
          allowed_dir: null,
        }),
      card: (ask, segments) => cardData(ask, now(), segments),
      history: (askId) => log.ofAsk(askId, store.asks.show(askId).run_id),
      sessionId: (name) => find(name).id,
      runId: recorded.find,
      async goOn(runId, accept) {
        try {
          await resume(runId, accept);
        } catch (error) {
          // The verdict stands whatever becomes of the run; it can be resumed by hand.
          const why = messageOf(error);
          input.warn(`${runId} was answered and does not go on: ${why}`);
        }
      },
    }),
    ...policyRoutes,
    ...createTrialRoutes({
      ...trial,
      now,
      policy: governing,
      recorded: store.recorded,
      ceilingSeconds: () => {
        const ceiling = settings.value('approval-ceiling');
        return ceiling === 'never' ? null : ceiling / 1000;
      },
      mask: secrets.maskDeep,
      showAsk: store.asks.show,
      rootOfRun: store.runs.workspaceOf,
      policyOfAsk: async () => null,
      refusal: refuse,
      sessionId: (name) => sessions.byName(name)?.id ?? null,
      argumentNames: argumentNamesWith(prepare, input.registeredArguments),
      uid: machine.uid,
      overlay: layersOf(workspace).map(({ directory }) => directory),
      runId: recorded.find,
      openFile: (file) => openFile(policies, file),
    }),
    translatePolicy: ({ from, text }) => importText({ home: machine.home, workspace: workspace.root }, from, text),
    ...createChainRoutes({
      ...overlay,
      root: workspace.root,
      trust,
      chains: input.chains,
      finder: input.finder,
      providers: undefined,
      runOnChain: recordedRuns.onChain,
    }),
    ...createBackendRoutes({
      backends: input.backends,
      models: input.models,
      status: input.setup.status,
      isSet: secrets.isSet,
      async startPull(model, backend) {
        const named = { chain_id: 'chain-model-pull', chain_path: null, chain_sha256: sha256Of(pullChain) };
        const wanted: StartRun = {
          ...request.of({}),
          // A download takes as long as it takes.
          timeout_ms: 0,
          chain_path: null,
          input: { type: 'string', value: '' },
          variables: pullVariables(model, backend),
        };
        const chain = await input.chains.storedChain(named, pullChain);
        return (await runs.startPlanned('model_pull', wanted, { chain })).run_id;
      },
    }),
    ...createConfigRoutes({
      settings,
      status: input.setup.status,
      probe: input.setup.probe,
      given: (key) => {
        const found = { 'default-model': options.model, 'default-provider': options.provider }[key as string];
        if (found == null) return null;
        return { value: found.value, source: found.source === 'flag' ? 'flag' : 'env' };
      },
    }),
    ...instructionsRoutes({
      prepare,
      reinsHome: machine.reinsHome,
      given: () => settings.value('project-instructions'),
      request: request.of,
    }),
    findFiles: async ({ query, limit }) => {
      const own = [workspace.home, workspace.dataDir ?? workspace.home, workspace.dbPath].map(realOf);
      return { items: findFiles(workspace.root, query ?? '', limit ?? 50, own) };
    },
    ...createAuditRoutes({ log, rooms: await store.auditRooms(), now }),
    ...planRouteServices({
      store,
      running: input.planRuns,
      request: request.of,
      closing: input.closing,
      warn: input.warn,
    }),
    ...createSourceRoutes({ ...input.sources, listTools: policyOperations.listTools, policy: governing }),
    getUsage: async ({ days, offset_minutes }) =>
      readUsage(store.sql, tenant, { days: days ?? 30, offsetMinutes: offset_minutes ?? 0, now: now() }),
    ...createTrustRoutes({ workspace, uid: machine.uid, operations: input.trustOperations }),
  };
}

/** A document of the overlay, as a run of that name would open it. */
async function openFile(policies: Policies, file: string) {
  const name = policyNameOf(file);
  if (name === undefined)
    throw new RuntimeError('not_found', `There is no policy ${file}.`, { data: { param: 'file' } });
  return (await policies.openPolicy({ name, trust: [] })).current();
}
