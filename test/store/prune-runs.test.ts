import { afterEach, beforeEach, expect, it } from 'vitest';
import { createAudit } from '../../src/store/audit.ts';
import { createDocuments } from '../../src/store/documents.ts';
import { createRunPruner } from '../../src/store/prune-runs.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { insertRun } from '../support/run-row.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { openIn, tenant } from './open.ts';

let temp: TempHome;
let store: OpenedStore;
beforeEach(async () => {
  temp = tempHome();
  store = await openIn(temp);
});
afterEach(() => {
  store.close();
  temp.remove();
});

it('removes the images of messages that are gone, and no blob that anything refers to', () => {
  const { sql } = store;
  const documents = createDocuments(sql, { now: () => 1, owner: 'test' });
  const put = (text: string, at: number): string => documents.putBlob(Buffer.from(text), at);
  const images = {
    deleted: put('of a deleted session', 1),
    said: put('of a message', 1),
    run: put('of a run', 1),
    given: put('instructions of a run', 1),
    trusted: put('a trusted text', 1),
    fresh: put('of nobody yet', 10),
  };
  const withImage = (sha256: string): string =>
    JSON.stringify({ role: 'user', content: '', images: [{ data: '', mime_type: 'image/png', sha256 }] });
  sql.write('normal', () => {
    for (const id of ['kept', 'gone']) {
      const row =
        'INSERT INTO sessions (id, tenant_id, name, workspace, created_at, message_count) VALUES (?, ?, ?, ?, 1, 1)';
      sql.run(row, id, tenant, id, '/');
    }
    const message = `INSERT INTO messages (id, session_id, seq, role, kind, payload, status, created_at)
      VALUES (?, ?, ?, 'user', 'message', ?, 'complete', 1)`;
    sql.run(message, 'm1', 'kept', 1, withImage(images.said));
    // One without the digest, as an imported history has it, refers to nothing.
    sql.run(message, 'm2', 'kept', 2, '{"images":[{"data":"AAAA","mime_type":"image/png"}]}');
    sql.run(message, 'm3', 'gone', 1, withImage(images.deleted));
    insertRun(sql, 'run_1');
    const options = { instructions: [{ source: 'user' }, { source: 'project', sha256: images.given }] };
    sql.run("UPDATE runs SET options = ? WHERE id = 'run_1'", JSON.stringify(options));
    sql.run("INSERT INTO run_messages (run_id, seq, payload) VALUES ('run_1', 1, ?)", withImage(images.run));
    const body = { kind: 'policy', sha256: images.trusted };
    createAudit(sql).append({ type: 'trust', tenant_id: tenant, run_id: null, session_id: null, body }, 1);
  });
  const kept = (): readonly string[] =>
    Object.entries(images).flatMap(([name, sha256]) => (documents.blob(sha256) === null ? [] : [name]));
  const prune = () => createRunPruner(sql, tenant).prune({ records: null, details: null, feed: 0, blobs: 5 });
  prune();
  expect(kept()).toEqual(['deleted', 'said', 'run', 'given', 'trusted', 'fresh']);
  sql.write('normal', () => sql.run("DELETE FROM sessions WHERE id = 'gone'"));
  prune();
  expect(kept()).toEqual(['said', 'run', 'given', 'trusted', 'fresh']);
});
