import type { AppOptions } from '../app-options.ts';
import { createAsks } from '../asks/asks.ts';
import type { Secrets } from '../registry/secrets.ts';
import { createSettings } from '../registry/settings.ts';
import { createUserSettings } from '../registry/user-settings.ts';
import { createInstructionFiles } from '../store/instruction-files.ts';
import { createLostRuns } from '../runs/lost-runs.ts';
import { checkResumable } from '../runs/resumable.ts';
import { watchFeed } from '../runs/watch-feed.ts';
import { RuntimeError } from '../schema/errors.ts';
import { createDrafts } from '../sessions/drafts.ts';
import { createFindSession } from '../sessions/names.ts';
import { createSessionOperations } from '../sessions/sessions.ts';
import { type AskFilter, createAsks as createAskRows } from '../store/asks.ts';
import { createAudit } from '../store/audit.ts';
import { createCalls } from '../store/calls.ts';
import { createDocuments } from '../store/documents.ts';
import { createEvents } from '../store/events.ts';
import { createFeedEntries } from '../store/feed-entries.ts';
import { createFeed } from '../store/feed.ts';
import { processOwner } from '../store/owner.ts';
import { createPlans } from '../store/plans.ts';
import { createRecordedCalls } from '../store/recorded-calls.ts';
import { createRegistry } from '../store/registry.ts';
import { createRemembered } from '../store/remembered.ts';
import { createRuns, isDriven } from '../store/runs.ts';
import { createSessions, type Sessions } from '../store/sessions.ts';
import { createSettings as createSettingRows } from '../store/settings.ts';
import { createServing } from '../store/serving.ts';
import { createShortIds } from '../store/short-ids.ts';
import type { OpenedStore } from '../store/store.ts';
import type { Workspace } from '../workspace/paths.ts';
import type { openAuditRooms } from './audit-rooms.ts';
import { once } from '../text/once.ts';
import { lazyServices } from './lazy-services.ts';
import { planOperations } from './light-operations.ts';
import { withFailPoints } from './fail-points.ts';
import type { Machine } from './machine.ts';
import { recordChanges, tellChanges, tellSetup } from './record-change.ts';
import type { openPlanRooms } from './plan-rooms.ts';
import type { openSessionRooms } from './session-rooms.ts';
import type { openStateRooms } from './state-rooms.ts';

declare const FAIL_POINTS: boolean;

export type StoreRoomsInput = {
  readonly options: AppOptions;
  readonly machine: Machine;
  readonly workspace: Workspace;
  readonly store: OpenedStore;
  readonly secrets: Secrets;
  readonly now: () => number;
  readonly warn: (line: string) => void;
  /** The database was opened for reading only. */
  readonly reading: boolean;
};

type AuditRooms = ReturnType<typeof openAuditRooms>;
type SessionRooms = ReturnType<typeof openSessionRooms>;
type PlanRooms = ReturnType<typeof openPlanRooms>;
type StateRooms = ReturnType<typeof openStateRooms>;

/** Entries after which the head of the audit chain is noted (11 §2.5). */
const anchorEvery = 100;

/** Table groups of the opened database, and what stands directly on them. */
export function openStoreRooms(input: StoreRoomsInput) {
  const { options, machine, workspace, store, secrets, now } = input;
  const { sql } = store;
  const { tenant } = options;
  const owner = processOwner(options.surface);
  let unnoted = 0;
  const noteHead = async (): Promise<void> => {
    if (unnoted === 0) return;
    unnoted = 0;
    (await import('../store/audit-anchors.ts')).noteHead({
      sql,
      reinsHome: machine.reinsHome,
      path: store.path,
      now,
    });
  };
  const audit = createAudit(sql, () => {
    unnoted += 1;
    if (unnoted === anchorEvery) setImmediate(() => void noteHead());
  });
  const events = createEvents(sql);
  const plainFeed = createFeed({ sql, events, now, mask: secrets.maskDeep });
  const feed =
    FAIL_POINTS && options.failPoint !== undefined ? withFailPoints(plainFeed, options.failPoint) : plainFeed;
  const actor = { by: `operator:${options.surface}`, name: machine.userName, client: options.surface };
  const record = recordChanges({ feed, audit, mask: secrets.maskDeep, tenant, by: actor.by, now });
  const tell = tellChanges({ feed, tenant });
  const settingRows = createSettingRows(sql, tenant);
  const settings = createSettings({
    store: settingRows,
    user: createUserSettings({ reinsHome: machine.reinsHome }),
    record,
    now,
  });
  const runs = createRuns(sql);
  const askRows = createAskRows(sql, tenant);
  const asks = createAsks({
    rows: askRows,
    audit,
    feed,
    now,
    ceilingMs: () => {
      const ceiling = settings.value('approval-ceiling');
      return ceiling === 'never' ? null : ceiling;
    },
    tenant,
    isDriven: (runId) => {
      const head = runs.head(runId);
      return head !== undefined && isDriven(head, now());
    },
    rests: (runId) => {
      const head = runs.head(runId);
      return head !== undefined && head.ended_at === null && !isDriven(head, now());
    },
    checkResumable(runId, acceptChangedChain) {
      const run = runs.stored(runId);
      if (run === undefined) throw new RuntimeError('not_found', `There is no run ${runId}.`);
      checkResumable({ workspace: workspace.root, now }, run, { acceptChangedChain });
    },
  });
  const sessions = createSessions(sql, tenant);
  const calls = createCalls(sql);
  const lostRuns = createLostRuns({ runs, calls, asks, feed, tenant, now });
  const sessionOperations = createSessionOperations({
    sql,
    sessions,
    runs,
    calls,
    workspace: workspace.root,
    now,
    cancelRun: async (run_id, reason) => {
      try {
        await (await stateRooms()).cancelRun({ run_id, reason, wait: true });
      } catch (error) {
        // It has ended by itself meanwhile.
        if (!(error instanceof RuntimeError) || error.code !== 'run_not_active') throw error;
      }
    },
  });
  const sessionRooms = async (): Promise<SessionRooms> =>
    (await import('./session-rooms.ts')).openSessionRooms({ sql, sessions, runs, calls, now, tenant });
  const shortIds = createShortIds(sql, tenant);
  const serving = createServing(settingRows, owner, now);
  const entries = createFeedEntries(sql, tenant);
  const remembered = createRemembered(sql);
  const forget = (session_id: string, id: string | null = null): number =>
    sql.write('full', () => {
      const removed = remembered.forget(session_id, id);
      const body = { choice: 'forgotten', removed, by: actor.by };
      if (removed > 0) audit.append({ type: 'remember', tenant_id: tenant, run_id: null, session_id, body }, now());
      return removed;
    });
  const auditRooms = async (): Promise<AuditRooms> =>
    (await import('./audit-rooms.ts')).openAuditRooms({
      sql,
      reinsHome: machine.reinsHome,
      path: store.path,
      now,
      audit,
      asks: askRows,
      tenant,
      by: actor.by,
    });
  const documents = createDocuments(sql, { now, owner });
  const stateRooms = async (): Promise<StateRooms> =>
    (await import('./state-rooms.ts')).openStateRooms({
      store,
      settings,
      tenant,
      reinsHome: machine.reinsHome,
      now,
      runs,
      calls,
      asks,
      documents,
      feed,
      audit,
      lostRuns,
      sessions,
      mask: secrets.maskDeep,
      by: actor.by,
    });
  const plans = createPlans(sql, tenant);
  const planRooms = once(
    async (): Promise<PlanRooms> =>
      (await import('./plan-rooms.ts')).openPlanRooms({
        sql,
        plans,
        runs,
        calls,
        lostRuns,
        feed,
        tenant,
        now,
        directory: workspace.dataDir ?? machine.reinsHome,
        writable: !input.reading,
        warn: input.warn,
        cancelRun: async (run_id, reason) => {
          await (await stateRooms()).cancelRun({ run_id, reason, wait: true });
        },
      }),
  );
  /** People see a plan by its name, and of a run the end of its id. @throws RuntimeError not_found, ambiguous_id */
  const missionOf = async (word: string): Promise<string> => {
    const plan = plans.byName(word.normalize('NFC')) ?? plans.byId(word);
    if (plan !== undefined) return plan.id;
    const run = (await stateRooms()).findRun(word);
    return runs.head(run)?.mission_id ?? run;
  };
  return {
    sql,
    store,
    owner,
    actor,
    audit,
    noteHead,
    auditRooms,
    events,
    feed,
    record,
    tellSetup: tellSetup({ feed, tenant }),
    tell,
    settings,
    asks,
    runs,
    lostRuns,
    calls,
    documents,
    remembered,
    instructionFiles: createInstructionFiles(sql, tenant),
    serving,
    sessions,
    plans,
    planRooms,
    sessionForTurn: sessionOperations.sessionForTurn,
    damagedSessions: async () => (await sessionRooms()).damagedSessions(),
    passagesThatSay: async (text: string) => (await sessionRooms()).passagesThatSay(text),
    sessionsThatSay: async (text: string) => (await sessionRooms()).sessionsThatSay(text),
    findRun: async (part: string) => (await stateRooms()).findRun(part),
    /** Forgets what was approved for a session, by name or id. */
    forget: (session: string) => ({ removed: forget(sessions.byName(session)?.id ?? session) }),
    registry: createRegistry(sql, tenant),
    recorded: createRecordedCalls(sql, tenant),
    /** The operations that need nothing but the database. */
    services: {
      ...settings,
      ...sessionOperations,
      ...lazyServices(planOperations, async () => (await planRooms()).operations),
      ...createDrafts({ rows: settingRows, now }),
      forkSession: async (wanted: Parameters<SessionRooms['forkSession']>[0]) =>
        (await sessionRooms()).forkSession(wanted),
      searchMessages: async (wanted: Parameters<SessionRooms['searchMessages']>[0]) =>
        (await sessionRooms()).searchMessages(wanted),
      exportSession: async (wanted: Parameters<SessionRooms['exportSession']>[0]) =>
        (await sessionRooms()).exportSession(wanted),
      listAsks: async ({ mission, ...filter }: AskFilterInput) => {
        const mission_id = mission === null ? null : await missionOf(mission);
        return asks.list({ ...byId(filter, sessions), mission_id });
      },
      listAudit: async (wanted: Parameters<AuditRooms['listAudit']>[0]) => (await auditRooms()).listAudit(wanted),
      verifyAudit: async (wanted: Parameters<AuditRooms['verifyAudit']>[0]) => (await auditRooms()).verifyAudit(wanted),
      exportAudit: async (wanted: Parameters<AuditRooms['exportAudit']>[0]) => (await auditRooms()).exportAudit(wanted),
      pruneAudit: async (wanted: Parameters<AuditRooms['pruneAudit']>[0]) => (await auditRooms()).pruneAudit(wanted),
      recordRestored: async () => (await auditRooms()).recordRestored(),
      listRuns: async (wanted: Parameters<StateRooms['listRuns']>[0]) => (await stateRooms()).listRuns(wanted),
      showRun: async (wanted: Parameters<StateRooms['showRun']>[0]) => (await stateRooms()).showRun(wanted),
      showRunStep: async (wanted: Parameters<StateRooms['showRunStep']>[0]) => (await stateRooms()).showRunStep(wanted),
      cancelRun: async (wanted: Parameters<StateRooms['cancelRun']>[0]) => (await stateRooms()).cancelRun(wanted),
      deleteRun: async (wanted: Parameters<StateRooms['deleteRun']>[0]) => (await stateRooms()).deleteRun(wanted),
      showChanges: async (wanted: Parameters<StateRooms['showChanges']>[0]) => (await stateRooms()).showChanges(wanted),
      undoChanges: async (wanted: Parameters<StateRooms['undoChanges']>[0]) => (await stateRooms()).undoChanges(wanted),
      pruneRuns: async (wanted: Parameters<StateRooms['pruneRuns']>[0]) => (await stateRooms()).pruneRuns(wanted),
      feedRange: async () => entries.range(),
      async *watchFeed(wanted: Parameters<typeof watchFeed>[2]) {
        // Who watches is a live process: a deadline that passes is told (03 §2).
        const stopSweeping = asks.keepSwept();
        try {
          yield* watchFeed(feed, entries, wanted);
        } finally {
          stopSweeping();
        }
      },
      listServers: async () => serving.ports().map((port) => ({ port })),
      shortIds: async ({ ids }: { readonly ids: readonly string[] }) => shortIds(ids),
      showAsk: async ({ id }: { readonly id: string }) => asks.show(id),
      askHistory: async (wanted: { readonly id: string }) => {
        const { id, run_id } = asks.show(wanted.id);
        return (await auditRooms()).ofAsk(id, run_id);
      },
      listRemembered: async ({ session }: { readonly session: string }) =>
        remembered.of(sessions.byName(session)?.id ?? session),
      forgetRemembered: async ({
        session,
        id,
      }: {
        readonly session: string;
        readonly id?: string | null | undefined;
      }) => ({
        removed: forget(sessions.byName(session)?.id ?? session, id ?? null),
      }),
    },
  };
}

export type StoreRooms = ReturnType<typeof openStoreRooms>;

type AskFilterInput = Omit<AskFilter, 'session_id' | 'mission_id' | 'state'> & {
  readonly state: string;
  readonly session: string | null;
  readonly mission: string | null;
};

/** Surfaces name a session; rows have its id. @throws RuntimeError not_found */
function byId(
  { session, state, ...rest }: Omit<AskFilterInput, 'mission'>,
  sessions: Sessions,
): Omit<AskFilter, 'mission_id'> {
  const known = session === null ? undefined : (sessions.byId(session) ?? createFindSession(sessions)(session));
  const session_id = known?.id ?? null;
  // An unknown word finds nothing.
  return { ...rest, state: state as AskFilter['state'], session_id };
}
