import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { quote } from '../text/quote.ts';
import { systemReason } from '../text/system-reason.ts';
import { codeOf } from '../text/thrown.ts';
import { machineKey } from './private-file.ts';
import type { Sql } from './sql.ts';

/** A head of the chain that was noted outside the database. */
export type Anchor = { readonly seq: number; readonly hash: string };
/** The same, and when; milliseconds since the epoch. */
export type NotedHead = Anchor & { readonly at: number };

export type AnchorsDeps = {
  readonly sql: Sql;
  readonly reinsHome: string;
  /** Of the database. */
  readonly path: string;
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
    const line = { instance_id, seq: head.seq, hash: head.hash, at: deps.now(), path: placeOf(deps.path) };
    append(fileOf(deps), `${JSON.stringify({ ...line, mac: macOf(key, line) })}\n`);
  } catch {
    // A full disk, or a directory that is gone.
  }
}

/**
 * Notes that an entry was written by this program when an operator said that a backup was put back.
 * @throws RuntimeError storage where that cannot be noted, and so does not count
 */
export function noteRestored(deps: AnchorsDeps, entry: Anchor): void {
  const path = fileOf(deps);
  try {
    const key = machineKey(deps.reinsHome, false);
    const instance_id = instanceOf(deps);
    if (key === null || instance_id === undefined) throw new Error('the machine key is missing');
    const { seq, hash } = entry;
    const line = { instance_id, seq, hash, at: deps.now(), path: placeOf(deps.path), restored: true };
    if (!append(path, `${JSON.stringify({ ...line, mac: macOf(key, line) })}\n`)) throw new Error('it is not a file');
  } catch (error) {
    throw new RuntimeError(
      'storage',
      `The entry is in the audit log and does not count, because ${path} cannot be written: ${systemReason(error)}.`,
      { cause: error, hints: [`ls -ld ${quote(path)}`, 'reins audit restored'] },
    );
  }
}

/** What was noted of this database and carries our mark. */
export type Noted = {
  readonly heads: readonly NotedHead[];
  /** What `noteRestored` noted. */
  readonly restored: readonly Anchor[];
  /** Where copies of the database lie, whose heads are not among these. */
  readonly copies: readonly string[];
};

/**
 * What was noted of this database; nothing where the file or the key is missing.
 * @throws RuntimeError config_invalid where the file is there and cannot be read: then nobody knows
 */
export function notedHeads(deps: AnchorsDeps): Noted {
  const key = machineKey(deps.reinsHome, false);
  const id = instanceOf(deps);
  const lines = key === null || id === undefined ? [] : signedLines(deps, key, id);
  const isOfCopy = copiesFor(deps.path, lines);
  const ofCopies = lines.filter(isOfCopy);
  return {
    heads: ofCopies.length === 0 ? lines : lines.filter((line) => !isOfCopy(line)),
    restored: lines.filter((line) => line.restored === true),
    copies: [...new Set(ofCopies.flatMap((line) => line.path ?? []))],
  };
}

/**
 * A project that is copied takes its database along, and both go on under one name. What was noted at another place counts
 * for a database that was moved from there: not where another file lies there now, and not once heads were noted here.
 */
function copiesFor(path: string, lines: readonly Line[]): (line: Line) => boolean {
  const own = placeOf(path);
  const since = lines.find((line) => line.path === own)?.at ?? Number.POSITIVE_INFINITY;
  const others = new Map<string, 'same' | 'other' | 'none'>();
  const whatIsAt = (place: string): 'same' | 'other' | 'none' => {
    const found = others.get(place) ?? lookAtPlace(place, own);
    others.set(place, found);
    return found;
  };
  return ({ path: place, at }) => {
    if (place === undefined || place === own) return false;
    const found = whatIsAt(place);
    return found === 'other' || (found === 'none' && at >= since);
  };
}

/** The same file may be reached by two names. */
function lookAtPlace(place: string, own: string): 'same' | 'other' | 'none' {
  const [there, here] = [place, own].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }));
  if (there === undefined) return 'none';
  return there.dev === here?.dev && there.ino === here.ino ? 'same' : 'other';
}

function placeOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function signedLines(deps: AnchorsDeps, key: Uint8Array, id: string): readonly Line[] {
  return linesOf(fileOf(deps)).flatMap((text) => {
    const line = readLine(text);
    if (line === null || line.instance_id !== id) return [];
    const { mac, ...signed } = line;
    const [given, expected] = [Buffer.from(mac), Buffer.from(macOf(key, signed))];
    const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
    return isOurs ? [line] : [];
  });
}

/** @returns whether it is there; not where something else than a file has the name */
function append(path: string, line: string): boolean {
  const descriptor = openSync(
    path,
    // What has taken the name and is no file (a FIFO) must not hold the program up.
    constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    0o600,
  );
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return false;
    // A umask may have taken what its owner needs to read it again.
    if ((stats.mode & 0o777) !== 0o600) fchmodSync(descriptor, 0o600);
    // Behind a line that a full disk or a loss of power has cut, this one would be a part of it.
    const bytes = Buffer.from(endsCut(descriptor, stats.size) ? `\n${line}` : line);
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    return true;
  } finally {
    closeSync(descriptor);
  }
}

function endsCut(descriptor: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return size > 0 && readSync(descriptor, last, 0, 1, size - 1) === 1 && last.toString() !== '\n';
}

function linesOf(path: string): readonly string[] {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw unread(path, codeOf(error) === 'ELOOP' ? 'it is a symbolic link' : systemReason(error));
  }
  try {
    if (!fstatSync(descriptor).isFile()) throw unread(path, 'it is not a regular file');
    return readFileSync(descriptor, 'utf8').slice(-maxBytes).split('\n');
  } finally {
    closeSync(descriptor);
  }
}

const unread = (path: string, why: string): RuntimeError =>
  new RuntimeError('config_invalid', `The heads of the audit log that were noted in ${path} cannot be read: ${why}.`, {
    hints: [`ls -ld ${quote(path)}`],
  });

type Line = NotedHead & {
  readonly instance_id: string;
  /** Where the database lay; lines of older programs have none. */
  readonly path?: string;
  readonly restored?: unknown;
  readonly mac: string;
};

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
  ['seq', 'at'].every((name) => typeof Reflect.get(line, name) === 'number') &&
  ['string', 'undefined'].includes(typeof Reflect.get(line, 'path'));
