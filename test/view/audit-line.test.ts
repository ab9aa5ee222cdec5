import { expect, it } from 'vitest';
import type { AuditRow } from '../../src/schema/audit.ts';
import { auditLine } from '../../src/view/audit-line.ts';

const row = (type: string, body: AuditRow['body']): AuditRow => ({
  ...{ seq: 1, at: 0, type, tenant_id: '', run_id: null, session_id: null, prev_hash: '', hash: '' },
  body,
});

it('names the tool of a call, and no tool where an entry counts them', () => {
  const effect = auditLine(row('effect', { tools: 'local_fs', tool: 'read_file', state: 'done' }), (id) => id);
  expect([effect.tool, effect.summary]).toEqual(['local_fs.read_file', 'done']);
  expect(auditLine(row('first_use', { name: 'memory', tools: 9 }), (id) => id)).toEqual({
    ...{ tool: '', summary: 'name memory, tools 9', actor: '', rule: '' },
  });
});

it('names the files that were undone', () => {
  const files = [
    { path: '/w/a.txt', removed: true, sha256: null },
    { path: '/w/b.txt', removed: false, sha256: null },
  ];
  expect(auditLine(row('files_undone', { files, by: 'operator:cli' }), (id) => id)).toEqual({
    ...{ tool: '', summary: 'undoing 2 files: /w/a.txt, /w/b.txt', actor: 'operator:cli', rule: '' },
  });
});
