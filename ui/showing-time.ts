import { runningStep } from './plan/plan-state.ts';
import type { State } from './state.ts';

/** Nearer deadlines are shown by the second, others by the minute (10 §7.2). */
const hourMs = 3_600_000;
/** Seconds between two looks at the times of a list, and at a deadline that is told in minutes. */
const listEvery = 10;
const minute = 60;

/**
 * Whether something on the screen shows a time that has moved on, so that it is drawn again.
 * @param seconds how many have passed since the program began
 */
export function showsTime({ turn, plan, pane, said, asks }: State, now: number, seconds: number): boolean {
  if (turn !== null || said !== null || plan.driving !== null) return true;
  if (pane === 'plan' && runningStep(plan) !== null) return true;
  if (asks.length === 0) return false;
  const isNear = asks.some((ask) => ask.expires_at !== null && Date.parse(ask.expires_at) - now < hourMs);
  return isNear || seconds % (pane === 'approvals' ? listEvery : minute) === 0;
}
