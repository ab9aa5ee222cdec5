import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

type Stopped = 'timeout' | 'cancel' | 'output';
export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** 05 §3.6. */
const killAfterMs = 2000;
const graceMs = 250;
const lookAgainMs = 50;
/** On a busy machine one look may take the whole time, and find nobody who is about to be another program. */
const leastLooks = 8;
/** A process that SIGKILL does not end at once (it waits for a device) does not hold the call for ever. */
const giveUpMs = 1000;

/** SIGTERM to the group, two seconds, SIGKILL to the group. The first reason stands. */
export function createStop(pid: number) {
  let reason: Stopped | null = null;
  let timer: NodeJS.Timeout | undefined;
  let giveUp: (exit: Exit) => void = () => {};
  const gaveUp = new Promise<Exit>((resolve) => {
    giveUp = resolve;
  });
  const kill = (): void => {
    signalGroup(pid, 'SIGKILL');
    timer = setTimeout(() => giveUp({ code: null, signal: 'SIGKILL' }), giveUpMs);
  };
  let ended = false;
  return {
    reason: () => reason,
    gaveUp,
    stop(why: Stopped): void {
      if (reason !== null || ended) return;
      reason = why;
      signalGroup(pid, 'SIGTERM');
      timer = setTimeout(kill, killAfterMs);
    },
    done(): void {
      ended = true;
      clearTimeout(timer);
    },
  };
}

/** Signals every member of a group. @returns false when the group has no member that could be signalled. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    // EPERM: members exist, but under another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * After the main process: its group gets 250 ms to close the pipes and to end, then it is killed (05 §3.6.2), and so is
 * who holds the pipes even then.
 * @returns true when something had to be killed.
 */
export async function endGroup(
  child: ChildProcess,
  pid: number,
  closed: Promise<void>,
  holders: () => readonly number[] = () => [],
): Promise<boolean> {
  const until = performance.now() + graceMs;
  const open = !(await within(closed, graceMs));
  while (!open && hasLivingMember(pid) && performance.now() < until) await pause(25);
  if (!open && !hasLivingMember(pid)) return false;
  signalGroup(pid, 'SIGKILL');
  if (!open || (await within(closed, graceMs))) return true;
  // They left the group with the pipe in hand. One that starts another program at the moment shows no marker and no pipe.
  const lookUntil = performance.now() + graceMs;
  let isClosed = false;
  for (let looks = 0; !isClosed && (looks < leastLooks || performance.now() < lookUntil); looks += 1) {
    for (const holder of holders()) killProcess(holder);
    isClosed = await within(closed, lookAgainMs);
  }
  if (!isClosed) {
    // Who cannot be reached loses the pipe: it is closed from this side.
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
  return true;
}

/** One that is gone already is no failure. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone since it was looked up.
  }
}

/** A dead member that nobody has waited for still answers signals; in a container without an init it stays for ever. */
function hasLivingMember(group: number): boolean {
  if (!signalGroup(group, 0)) return false;
  if (process.platform !== 'linux') return true;
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && isLivingMember(name, group));
}

function isLivingMember(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Behind the name, which may hold blanks and brackets: state, parent, process group.
    const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return processGroup === String(group) && state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether a promise, which must not reject, resolves within the time. */
export function within(promise: Promise<void>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    void promise.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
