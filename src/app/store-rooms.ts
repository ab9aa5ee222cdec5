import type { AppOptions } from '../app-options.ts';
import type { AnswerInput } from '../asks/answer.ts';
import { createAsks } from '../asks/asks.ts';
import type { Secrets } from '../registry/secrets.ts';
import { createSettings } from '../registry/settings.ts';
import { createUserSettings } from '../registry/user-settings.ts';
import type { RecordChange } from '../registry/ports.ts';
import { createLostRuns } from '../runs/lost-runs.ts';
import type { AuditCheck, AuditFilter } from '../schema/audit.ts';
import { RuntimeError } from '../schema/errors.ts';
import { createSessionOperations } from '../sessions/sessions.ts';
import { type AskFilter, createAsks as createAskRows } from '../store/asks.ts';
import { createAudit } from '../store/audit.ts';
import { createAnchors } from '../store/audit-anchors.ts';
import { type ExportInput, exported } from '../store/audit-export.ts';
import { createAuditLog } from '../store/audit-log.ts';
import { pruneAudit } from '../store/audit-prune.ts';
import { createCalls } from '../store/calls.ts';
import { createDocuments } from '../store/documents.ts';
import { createEvents } from '../store/events.ts';
import { createFeed } from '../store/feed.ts';
import { processOwner } from '../store/owner.ts';
import { createRegistry } from '../store/registry.ts';
import { createRuns, isDriven } from '../store/runs.ts';
import { createSessions, type Sessions } from '../store/sessions.ts';
import { createSettings as createSettingRows } from '../store/settings.ts';
import { createShortIds } from '../store/short-ids.ts';
import type { OpenedStore } from '../store/store.ts';
import type { Workspace } from '../workspace/paths.ts';
import { withFailPoints } from './fail-points.ts';
import type { Machine } from './machine.ts';

declare const FAIL_POINTS: boolean;

export type StoreRoomsInput = {
  readonly options: AppOptions;
  readonly machine: Machine;
  readonly workspace: Workspace;
  readonly store: OpenedStore;
  readonly secrets: Secrets;
  readonly now: () => number;
};

/** Table groups of the opened database, and what stands directly on them. */
export function openStoreRooms(input: StoreRoomsInput) {
  const { options, machine, workspace, store, secrets, now } = input;
  const { sql } = store;
  const { tenant } = options;
  const owner = processOwner(options.surface);
  const anchors = createAnchors({ sql, reinsHome: machine.reinsHome, now });
  const audit = createAudit(sql, anchors.note);
  const auditLog = createAuditLog(sql, tenant);
  /** @param head a hash that must be in the chain, beside those that were noted; null = none */
  const checkAudit = (head: string | null): AuditCheck =>
    auditLog.verify([...anchors.known(), ...(head === null ? [] : [{ seq: null, hash: head }])]);
  const events = createEvents(sql);
  const plainFeed = createFeed({ sql, events, now, mask: secrets.maskDeep });
  const feed =
    FAIL_POINTS && options.failPoint !== undefined ? withFailPoints(plainFeed, options.failPoint) : plainFeed;
  const record: RecordChange = (type, entry, body) =>
    sql.write('full', () => {
      const result = body();
      audit.append({ type, tenant_id: tenant, run_id: null, session_id: null, body: secrets.maskDeep(entry) }, now());
      return result;
    });
  const settings = createSettings({
    store: createSettingRows(sql, tenant),
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
  });
  const sessions = createSessions(sql, tenant);
  const calls = createCalls(sql);
  const lostRuns = createLostRuns({ runs, calls, asks, feed, tenant, now });
  const sessionOperations = createSessionOperations({
    sql,
    sessions,
    runs,
    workspace: workspace.root,
    now,
    cancelRun: async (runId, reason) => {
      await lostRuns.reread(runId);
      lostRuns.end(runId, 'cancelled', reason);
    },
  });
  const shortIds = createShortIds(sql, tenant);
  const actor = { by: `operator:${options.surface}`, name: machine.userName, client: options.surface };
  return {
    sql,
    store,
    owner,
    actor,
    audit,
    anchors,
    checkAudit,
    events,
    feed,
    record,
    settings,
    asks,
    runs,
    lostRuns,
    calls,
    documents: createDocuments(sql, { now, owner }),
    sessions,
    sessionForTurn: sessionOperations.sessionForTurn,
    registry: createRegistry(sql, tenant),
    /** The operations that need nothing but the database. */
    services: {
      ...settings,
      ...sessionOperations,
      listAsks: async (filter: AskFilterInput) => asks.list(byId(filter, sessions)),
      listAudit: async ({ limit, ...filter }: AuditFilter & { readonly limit: number }) => auditLog.list(filter, limit),
      verifyAudit: async ({ head }: { readonly head: string | null }) => checkAudit(head),
      exportAudit: async ({ after, since, limit, with_text }: ExportInput) => ({
        rows: auditLog
          .after(after, since, limit)
          .map((row) => exported(row, with_text ? (id) => askRows.get(id)?.verdict ?? null : null)),
        head: auditLog.head(),
      }),
      pruneAudit: async ({ before }: { readonly before: number }) => ({
        removed: pruneAudit({ sql, audit, tenant, now }, before, actor.by),
      }),
      shortIds: async ({ ids }: { readonly ids: readonly string[] }) => shortIds(ids),
      showAsk: async ({ id }: { readonly id: string }) => asks.show(id),
      answerAsk: async ({ remember, ...answer }: AnswerInput & { readonly remember: 'session' | null }) => {
        // A choice that would be forgotten is refused rather than half done.
        if (remember !== null) throw new RuntimeError('not_built', 'remembering an approval is not built yet');
        return asks.answer(answer, actor);
      },
    },
  };
}

export type StoreRooms = ReturnType<typeof openStoreRooms>;

type AskFilterInput = Omit<AskFilter, 'session_id' | 'mission_id' | 'state'> & {
  readonly state: string;
  readonly session: string | null;
  readonly mission: string | null;
};

/** Surfaces name a session; rows have its id. */
function byId({ session, mission, state, ...rest }: AskFilterInput, sessions: Sessions): AskFilter {
  const session_id = session === null ? null : (sessions.byName(session)?.id ?? session);
  // An unknown word finds nothing.
  return { ...rest, state: state as AskFilter['state'], session_id, mission_id: mission };
}
