import { toWire } from '../../src/schema/errors.ts';
import { auth } from './auth.ts';
import { session } from './session.ts';

/** A login that is used is renewed when an hour of its day has passed (09 §4.8): who comes back a day later is still in. */
const dayMs = 24 * 60 * 60_000;
const hourMs = 60 * 60_000;
/** Until it is tried again where no server answered. */
const againMs = 60_000;
/** An act may be the one that leaves the page. */
const settleMs = 1000;
const acts = ['keydown', 'pointerdown', 'wheel', 'focus'] as const;

/**
 * Renews the login for as long as somebody uses the page: after what a person does and never because a tab is open, so
 * that one which was left alone ends after a day, and all end after seven. @returns how to stop
 */
export function renewWhileUsed(): () => void {
  let nextAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const renew = () =>
    inTurn(renewIfOld).catch((thrown: unknown) => {
      // A refusal is met by the next request of the page, which waits for whoever logs in again.
      if (thrown instanceof TypeError || toWire(thrown).code === 'timeout') nextAt = Date.now() + againMs;
    });
  const onAct = () => {
    const now = Date.now();
    // A clock that was set back shall not keep it from being looked at.
    const isDue = now >= nextAt || nextAt > now + hourMs;
    if (!isDue || session.get().at !== 'in') return;
    nextAt = now + hourMs;
    clearTimeout(timer);
    timer = setTimeout(() => void renew(), settleMs);
  };
  for (const act of acts) window.addEventListener(act, onAct, { capture: true, passive: true });
  return () => {
    clearTimeout(timer);
    for (const act of acts) window.removeEventListener(act, onAct, { capture: true });
  };
}

/** Of several tabs the first one that is used renews the login of all. */
async function renewIfOld(): Promise<void> {
  const { expires_at } = await auth.me();
  if (Date.parse(expires_at) - Date.now() < dayMs - hourMs) await auth.refresh();
}

/** Whether this browser is logged in, asked when no tab is renewing the login: between two tokens nobody could tell. */
export const isStillIn = (): Promise<boolean> => inTurn(async () => (await auth.status()).authenticated);

/** One tab after the other, where the browser gives locks: it does not to what came over plain HTTP from elsewhere. */
const inTurn = <T>(act: () => Promise<T>): Promise<T> =>
  navigator.locks === undefined ? act() : navigator.locks.request('reins-login', act);
