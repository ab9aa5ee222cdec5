import { createHmac, timingSafeEqual } from 'node:crypto';
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson } from '../text/canonical-json.ts';
import { machineKey } from './private-file.ts';
import type { Sql } from './sql.ts';

/** A head of the chain that was noted outside the database. */
export type Anchor = { readonly seq: number; readonly hash: string };

export type AnchorsDeps = {
  readonly sql: Sql;
  readonly reinsHome: string;
  readonly now: () => number;
};

const maxBytes = 64 * 1024 * 1024;

const fileOf = ({ reinsHome }: AnchorsDeps): string => join(reinsHome, 'audit-anchors');
const instanceOf = ({ sql }: AnchorsDeps): string | undefined =>
  sql.get<{ value: string }>("SELECT value FROM meta WHERE key = 'instance_id'")?.value;
const macOf = (key: Uint8Array, line: object): string =>
  createHmac('sha256', key).update(canonicalJson(line)).digest('hex');

/**
 * Notes the present head of the audit chain in the user-level directory (11 §2.5), so that a tail that was cut off or a
 * chain that was written anew is noticed. Never throws: what cannot be noted now is covered by the next process.
 */
export function noteHead(deps: AnchorsDeps): void {
  try {
    const key = machineKey(deps.reinsHome, false);
    const head = deps.sql.get<Anchor>('SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1');
    const instance_id = instanceOf(deps);
    if (key === null || head === undefined || instance_id === undefined) return;
    const line = { instance_id, seq: head.seq, hash: head.hash, at: deps.now() };
    append(fileOf(deps), `${JSON.stringify({ ...line, mac: macOf(key, line) })}\n`);
  } catch {
    // A full disk, or a directory that is gone.
  }
}

/** Heads of this database that were noted and carry our mark. */
export function knownHeads(deps: AnchorsDeps): readonly Anchor[] {
  const key = machineKey(deps.reinsHome, false);
  const id = instanceOf(deps);
  if (key === null || id === undefined) return [];
  return linesOf(fileOf(deps)).flatMap((text) => {
    const line = readLine(text);
    if (line === null || line.instance_id !== id) return [];
    const { mac, ...signed } = line;
    const [given, expected] = [Buffer.from(mac), Buffer.from(macOf(key, signed))];
    const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
    return isOurs ? [{ seq: line.seq, hash: line.hash }] : [];
  });
}

function append(path: string, line: string): void {
  const descriptor = openSync(
    path,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    writeSync(descriptor, line);
  } finally {
    closeSync(descriptor);
  }
}

function linesOf(path: string): readonly string[] {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      return readFileSync(descriptor, 'utf8').slice(-maxBytes).split('\n');
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return [];
  }
}

type Line = Anchor & { readonly instance_id: string; readonly at: number; readonly mac: string };

function readLine(text: string): Line | null {
  try {
    const line: unknown = JSON.parse(text);
    return isLine(line) ? line : null;
  } catch {
    return null;
  }
}

const isLine = (line: unknown): line is Line =>
  typeof line === 'object' &&
  line !== null &&
  ['instance_id', 'hash', 'mac'].every((name) => typeof Reflect.get(line, name) === 'string') &&
  ['seq', 'at'].every((name) => typeof Reflect.get(line, name) === 'number');
