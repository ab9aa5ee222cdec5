import { createHash } from 'node:crypto';
import type { Verdict } from '../schema/ask.ts';
import type { AuditRow } from '../schema/audit.ts';

export type ExportInput = {
  /** Rows with a higher number. */
  readonly after: number;
  /** Milliseconds since the epoch; null = from the beginning. */
  readonly since: number | null;
  readonly limit: number;
  readonly with_text: boolean;
};

/** Arguments that hold what files hold, or a part of it. */
const contents: ReadonlySet<string> = new Set(['content', 'old_string', 'new_string', 'replacement', 'diff', 'body']);

/**
 * A row as an export shows it (03 §14): what goes into files is a digest. Secrets were masked when it was written.
 * @param verdictOf the verdict of an ask with its words; null = words stay here
 */
export function exported(row: AuditRow, verdictOf: ((askId: string) => Verdict | null) | null): AuditRow {
  const args = row.body['args'];
  if (row.type === 'decision' && typeof args === 'object' && args !== null) {
    return { ...row, body: { ...row.body, args: Object.fromEntries(Object.entries(args).map(withoutContent)) } };
  }
  if (row.type !== 'verdict' || verdictOf === null) return row;
  const { feedback, text } = verdictOf(String(row.body['ask_id'])) ?? {};
  return {
    ...row,
    body: { ...row.body, ...(feedback === undefined ? {} : { feedback }), ...(text === undefined ? {} : { text }) },
  };
}

function withoutContent([name, value]: readonly [string, unknown]): readonly [string, unknown] {
  if (typeof value !== 'string' || !contents.has(name)) return [name, value];
  const sha256 = createHash('sha256').update(value).digest('hex');
  return [name, { sha256, bytes: Buffer.byteLength(value) }];
}
