import type { AppOptions } from '../app-options.ts';
import { createAsks } from '../asks/asks.ts';
import type { Secrets } from '../registry/secrets.ts';
import { createSettings } from '../registry/settings.ts';
import { createUserSettings } from '../registry/user-settings.ts';
import type { RecordChange } from '../registry/ports.ts';
import { createAsks as createAskRows } from '../store/asks.ts';
import { createAudit } from '../store/audit.ts';
import { createCalls } from '../store/calls.ts';
import { createDocuments } from '../store/documents.ts';
import { createEvents } from '../store/events.ts';
import { createFeed } from '../store/feed.ts';
import { processOwner } from '../store/owner.ts';
import { createRegistry } from '../store/registry.ts';
import { createRuns } from '../store/runs.ts';
import { createSessions } from '../store/sessions.ts';
import { createSettings as createSettingRows } from '../store/settings.ts';
import type { OpenedStore } from '../store/store.ts';
import type { Machine } from './machine.ts';

/** Table groups of the opened database, and what stands directly on them. */
export function openStoreRooms(
  options: AppOptions,
  machine: Machine,
  store: OpenedStore,
  secrets: Secrets,
  now: () => number,
) {
  const { sql } = store;
  const { tenant } = options;
  const owner = processOwner(options.surface);
  const audit = createAudit(sql);
  const feed = createFeed({ sql, events: createEvents(sql), now, mask: secrets.maskDeep });
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
  const asks = createAsks({
    rows: createAskRows(sql, tenant),
    audit,
    feed,
    now,
    ceilingMs: () => {
      const ceiling = settings.value('approval-ceiling');
      return ceiling === 'never' ? null : ceiling;
    },
    tenant,
  });
  return {
    sql,
    store,
    owner,
    audit,
    feed,
    record,
    settings,
    asks,
    runs: createRuns(sql),
    calls: createCalls(sql),
    documents: createDocuments(sql, { now, owner }),
    sessions: createSessions(sql, tenant),
    registry: createRegistry(sql, tenant),
  };
}

export type StoreRooms = ReturnType<typeof openStoreRooms>;
