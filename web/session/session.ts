import { toWire } from '../../src/schema/errors.ts';
import { createStore } from '../data/store.ts';
import { forgetForms } from '../parts/form-draft.tsx';
import { type AuthStatus, auth, type Login } from './auth.ts';

export type SessionState =
  /** Nobody knows yet; `opening` redeems the one-time link of the address. */
  | { readonly at: 'checking' | 'opening' }
  | { readonly at: 'out'; readonly defaultInForce: boolean; readonly said: string | null }
  /** Logged in with the default credentials: nothing works until a password is set. `over`: a page was open, and stays. */
  | { readonly at: 'must-change'; readonly over: boolean }
  | { readonly at: 'in' }
  /** The login has ended while a page was open: it stays under the form. */
  | { readonly at: 'expired' }
  | { readonly at: 'unreachable' };

/** Who is logged in, for the whole page. */
export const session = createStore<SessionState>({ at: 'checking' });

const usedLink = 'This link was already used or has expired: run "reins beam link".';

/** Finds out who is there, at the start of the page. Takes a one-time code out of the address and its history. */
export async function openSession(): Promise<void> {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  let said: string | null = null;
  if (code !== undefined) {
    // Whatever stands there: a code that was copied with something behind it is one all the same.
    history.replaceState(null, '', location.pathname + location.search);
    session.set({ at: 'opening' });
    try {
      entered(await auth.link(/^[\w-]*/.exec(code)?.[0] ?? ''));
      return;
    } catch (thrown) {
      // From another machine no link is good, however new it is.
      const { code, message } = toWire(thrown);
      said = code === 'loopback_only' || code === 'too_many_attempts' ? message : usedLink;
    }
  }
  await lookAgain(said);
}

/** Asks the server who is logged in. */
export async function lookAgain(said: string | null = null): Promise<void> {
  try {
    const status = await auth.status();
    if (status.authenticated) entered(status);
    else session.set({ at: 'out', defaultInForce: status.default_login_in_force, said });
  } catch {
    session.set({ at: 'unreachable' });
  }
}

/**
 * Somebody may have logged in, or set a password, in another tab: this one goes on, also where nobody looks at it, since
 * it may be the one that reads for all.
 */
export async function lookElsewhere(): Promise<void> {
  const { at } = session.get();
  if (at === 'in' || at === 'checking' || at === 'opening') return;
  const status = await auth.status().catch(() => null);
  if (status === null) return;
  if (status.authenticated) entered(status);
  else if (at === 'must-change') ended(status);
}

/** A browser has one login for all of its tabs. */
const channel = 'login';

/** Goes on when somebody has logged in in another tab. @returns how to stop */
export function hearOtherTabs(): () => void {
  const others = new BroadcastChannel(channel);
  others.onmessage = () => void lookElsewhere();
  return () => others.close();
}

function tellOtherTabs(): void {
  const others = new BroadcastChannel(channel);
  others.postMessage('in');
  others.close();
}

/** The login is gone before a password was chosen: it is no longer this one's to choose. */
const ended = ({ default_login_in_force }: AuthStatus): void =>
  session.set(isPageOpen() ? { at: 'expired' } : { at: 'out', defaultInForce: default_login_in_force, said: null });

export function entered({ must_change_password }: Login): void {
  if (!must_change_password && session.get().at !== 'in') tellOtherTabs();
  session.set(must_change_password ? { at: 'must-change', over: isPageOpen() } : { at: 'in' });
}

/** A page is drawn, with what somebody may have written in it. */
const isPageOpen = (): boolean => {
  const state = session.get();
  return state.at === 'in' || state.at === 'expired' || (state.at === 'must-change' && state.over);
};

/** The server knows the login no more. Resolves when somebody has logged in again. */
export function loginAgain(): Promise<void> {
  if (session.get().at === 'in') session.set({ at: 'expired' });
  return untilIn();
}

/** The login is that of the default password. Resolves when another one was chosen. */
export function passwordFirst(): Promise<void> {
  if (session.get().at === 'in') entered({ must_change_password: true });
  return untilIn();
}

function untilIn(): Promise<void> {
  return new Promise((resolve) => {
    const stop = session.subscribe(() => {
      if (session.get().at !== 'in') return;
      stop();
      resolve();
    });
  });
}

export async function logout(): Promise<void> {
  forgetForms();
  await auth.logout().catch(() => null);
  await lookAgain();
}

/** A question for the password, in front of what needs a recent proof; the answer is whether it was given. */
export type ProofWanted = { readonly settle: (proved: boolean) => void };
export const proofWanted = createStore<ProofWanted | null>(null);

/** Asks for the password. Several that need it at once wait for one answer. */
let asking: Promise<boolean> | null = null;
export function prove(): Promise<boolean> {
  asking ??= new Promise<boolean>((resolve) => {
    proofWanted.set({
      settle: (proved) => {
        proofWanted.set(null);
        asking = null;
        resolve(proved);
      },
    });
  });
  return asking;
}
