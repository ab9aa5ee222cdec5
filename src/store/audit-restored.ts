import { type AuditLoss, type AuditRestored, type AuditRow, restoredFrom } from '../schema/audit.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { Anchor, NotedHead } from './audit-anchors.ts';

/** Heads that were noted and are not in the log, told as one; null where there is none. */
export function lossOf(gone: readonly NotedHead[]): AuditLoss | null {
  const inOrder = [...gone].sort((one, other) => one.seq - other.seq);
  const [first, last] = [inOrder[0], inOrder.at(-1)];
  if (first === undefined || last === undefined) return null;
  return {
    heads: gone.length,
    from_seq: first.seq,
    to_seq: last.seq,
    old_head: last.hash,
    noted_until: gone.reduce((until, { at }) => Math.max(until, at), first.at),
  };
}

/** Whether a head is one of those that were missing when an operator said that a backup was put back; later ones are not. */
export const excuses = (restored: AuditRestored, { seq, at }: NotedHead): boolean =>
  restored.from_seq <= seq && seq <= restored.to_seq && at <= restored.noted_until;

/**
 * What a row says of backups that were put back: its own word, or those that went when the log was pruned behind it. Only
 * what was marked beside the database counts: who owns the file alone could write the row, too.
 * @param marks rows of this kind that were noted with the machine's key
 */
export function restoredIn(row: Pick<AuditRow, 'seq' | 'at' | 'type' | 'hash' | 'body'>, marks: readonly Anchor[]) {
  return saidIn(row).filter(({ seq, hash }) => marks.some((mark) => mark.seq === seq && mark.hash === hash));
}

/** The same, marked or not. */
export function saidIn({ seq, at, type, hash, body }: Parameters<typeof restoredIn>[0]): readonly AuditRestored[] {
  const said: unknown = type === 'restored' ? [{ ...body, seq, at, hash }] : body['restored'];
  return Array.isArray(said) ? said.flatMap(restoredFrom) : [];
}

/** @throws RuntimeError config_invalid: entries that do not follow from each other were never a log of this program */
export const notABackup = (broken: { readonly seq: number; readonly reason: string }): RuntimeError =>
  new RuntimeError(
    'config_invalid',
    `The audit log itself is broken (seq ${broken.seq}: ${broken.reason}), which no backup that was put back explains.`,
    { hints: ['reins audit verify'] },
  );
