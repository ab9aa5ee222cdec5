import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Driver } from '../schema/run.ts';

/**
 * Who holds something: host, boot id, process id and its start time, and the surface (11 §2.9), joined by blanks. A
 * caller may append words of its own, such as the number of a lock.
 */
export function processOwner(surface: string): string {
  return [host(), bootId(), String(process.pid), startOf(process.pid) ?? '-', surface].join(' ');
}

/**
 * True only when the owner is certainly gone: a process of this host and boot that no longer exists, or another process
 * that got its pid. A pid alone proves nothing, and another host or a platform without `/proc` is judged by time only.
 */
export function ownerIsDead(text: string): boolean {
  const owner = readOwner(text);
  if (owner === null || owner.boot === '-' || owner.start === '-' || owner.host !== host()) return false;
  // Another boot of this host: its processes ended with it.
  if (owner.boot !== bootId()) return bootId() !== '-';
  return startOf(owner.pid) !== owner.start;
}

/** What the text of an owner says; `-` stands for a boot or a start that the platform did not tell. Null for other text. */
export function readOwner(text: string) {
  const [host, boot, pid, start, surface] = text.split(' ');
  if (host === undefined || boot === undefined || pid === undefined || start === undefined) return null;
  return { host, boot, pid: Number(pid), start, surface: surface ?? '-' };
}

/** The process that holds something, as its text names it; null where it names none. */
export function driverOf(text: string): Driver | null {
  const owner = readOwner(text);
  return owner && { pid: owner.pid, surface: owner.surface };
}

const host = (): string => hostname().replaceAll(/\s/g, '_') || 'host';

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '-';
  }
}

/** Start time of a process in clock ticks since boot (field 22); undefined when there is no such process. */
function startOf(pid: number): string | undefined {
  let line: string;
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name in parentheses may hold anything, so fields are counted from the last one that closes.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  // A zombie has ended; only its parent has not looked yet.
  return fields[0] === 'Z' ? undefined : fields[19];
}
