import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConnectionEnds } from '../app-options.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { Audit } from '../store/audit.ts';
import type { RunningChild } from '../store/calls.ts';
import type { Sql } from '../store/sql.ts';
import { clientOf } from './connection-ends.ts';

/** How far up the family of a process is followed (11 §6.2). */
const maxAncestors = 64;

export const insideTool = (command: string): RuntimeError =>
  new RuntimeError('inside_tool', `refused: "${command}" was called from inside a tool run`);

export type AttemptDeps = {
  readonly sql: Sql;
  readonly audit: Audit;
  readonly calls: { running(): readonly RunningChild[] };
  readonly tenant: string;
  readonly now: () => number;
};

/**
 * Refuses a command to what a tool call has started, also where that has taken the marker out of its environment: a call
 * of this database is known by its row, one of another by the marker of its family. @throws RuntimeError inside_tool
 */
export function refuseInside(deps: AttemptDeps & { readonly root: URL }, command: string): void {
  const { run, call } = startedBy(deps.calls.running(), deps.root);
  if (run === null) return;
  note(deps, run, { command, ...(call === undefined ? {} : { call_id: call.call_id }), by: 'process' });
  throw insideTool(command);
}

/** The run, and the call of those that are known, by which this process was started; else the process of this program. */
export function startedBy(running: readonly RunningChild[], root: URL) {
  const family = familyOf(process.pid);
  const call = callOf(running, family);
  return { run: call?.run_id ?? markerOf(family) ?? programAbove(root), call };
}

/**
 * This program among the ancestors: it starts itself for nobody. A tool server that has put this program in its own place
 * has neither its marker any more, nor a call. Leaders do not count: the one of a pipe may be this program.
 */
function programAbove(root: URL): string | null {
  const own = realOf(fileURLToPath(root));
  let pid = statOf(process.pid)?.parent ?? 0;
  for (let level = 0; level < maxAncestors && pid > 1; level += 1) {
    if (isProgram(pid, own)) return `process ${pid}`;
    pid = statOf(pid)?.parent ?? 0;
  }
  return null;
}

/** Started with a script of this installation, or with its arguments taken out of the list of processes since. */
function isProgram(pid: number, own: string | null): boolean {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    if (/^reins\0*$/.test(line)) return true;
    const script = line.split('\0')[1] ?? '';
    const real = script === '' ? null : realOf(resolve(readlinkSync(`/proc/${pid}/cwd`), script));
    return own !== null && real?.startsWith(`${own}/`) === true;
  } catch {
    return false;
  }
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

type Family = ReturnType<typeof familyOf>;

/** The marker that one of a family was started with, the nearest first; null where none was, or where it is not told. */
function markerOf(family: Family): string | null {
  for (const pid of family.keys()) {
    const found = /(?:^|\0)REINS_RUN_ID=([^\0]{1,64})/.exec(environmentOf(pid))?.[1];
    if (found !== undefined) return found;
  }
  return null;
}

/** As it was when its program started. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    // It has ended, is another user's, or the system has no such file.
    return '';
  }
}

/** The call that has started one of a family. */
function callOf(running: readonly RunningChild[], family: Family): RunningChild | undefined {
  return running.find(({ pid, pid_start }) => {
    const start = family.get(pid);
    // Of a leader that has ended only the number is left, which nobody gets while its group lives.
    return start !== undefined && (start === null || start === pid_start);
  });
}

/**
 * Whether the other end of a connection on this machine is held by what a tool call or a tool server has started (11 §6.2),
 * or, for a change, by nobody any more; false where the system does not tell. The attempt is written down.
 * @param changes whether more than reading is asked for. What reads is looked at only while a call of this database runs: to
 * find who holds a connection takes milliseconds, and pages are read all the time
 */
export function comesFromTool(deps: AttemptDeps, ends: ConnectionEnds, changes: boolean): boolean {
  const running = deps.calls.running();
  if (running.length === 0 && !changes) return false;
  const client = clientOf(ends);
  // It sent its request and closed: who that was cannot be told, and nobody waits for the answer.
  if (client.gone) return changes;
  const families = client.inodes.flatMap(holdersOf).map(familyOf);
  const call = families.flatMap((family) => callOf(running, family) ?? [])[0];
  const run = call?.run_id ?? families.flatMap((family) => markerOf(family) ?? [])[0];
  if (run === undefined) return false;
  const body = { command: 'beam request', ...(call === undefined ? {} : { call_id: call.call_id }), by: 'connection' };
  note(deps, run, body);
  return true;
}

/** Processes of this user that have a socket open. */
function holdersOf(inode: string): readonly number[] {
  const wanted = `socket:[${inode}]`;
  const holds = (pid: string): boolean => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === wanted);
    } catch {
      // It has ended, or belongs to another user.
      return false;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && holds(name))
    .map(Number);
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** Writes the attempt down; where that cannot be done, the refusal stands all the same. */
export function note({ sql, audit, tenant, now }: Omit<AttemptDeps, 'calls'>, run_id: string, body: object): void {
  try {
    const entry = { type: 'self_approval_attempt', tenant_id: tenant, run_id, session_id: null, body } as const;
    sql.write('full', () => audit.append(entry, now()));
  } catch (error) {
    // A database that is read only, full or locked.
    if (!(error instanceof RuntimeError)) throw error;
  }
}

/**
 * A process, those it descends from, and the leaders of their groups and sessions with theirs: pid to start, null for one
 * that ended. A leader is an ancestor of what was left behind when the processes in between ended.
 */
function familyOf(own: number): ReadonlyMap<number, string | null> {
  const family = new Map<number, string | null>();
  let generation = [own];
  for (let level = 0; level < maxAncestors && generation.length > 0; level += 1) {
    const elders = new Set<number>();
    for (const pid of generation) {
      const stat = statOf(pid);
      family.set(pid, stat?.start ?? null);
      if (stat !== null) for (const elder of [stat.parent, stat.group, stat.session]) elders.add(elder);
    }
    generation = [...elders].filter((pid) => pid > 1 && !family.has(pid));
  }
  return family;
}

function statOf(pid: number) {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything, so fields are counted from the last one that closes.
    const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
    const number = (index: number): number => Number(fields[index] ?? 0);
    return { parent: number(1), group: number(2), session: number(3), start: fields[19] ?? null };
  } catch {
    return null;
  }
}
