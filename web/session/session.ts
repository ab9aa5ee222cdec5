import { createStore } from '../data/store.ts';
import { auth, type Login } from './auth.ts';

export type SessionState =
  /** Nobody knows yet; `opening` redeems the one-time link of the address. */
  | { readonly at: 'checking' | 'opening' }
  | { readonly at: 'out'; readonly defaultInForce: boolean; readonly said: string | null }
  /** Logged in with the default credentials: nothing works until a password is set. */
  | { readonly at: 'must-change' }
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
    } catch {
      said = usedLink;
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

/** Somebody may have logged in, or set a password, in another tab: who comes back to this one goes on. */
export async function lookElsewhere(): Promise<void> {
  const { at } = session.get();
  if (at === 'in' || at === 'checking' || at === 'opening') return;
  const status = await auth.status().catch(() => null);
  if (status?.authenticated === true) entered(status);
}

export function entered({ must_change_password }: Login): void {
  session.set({ at: must_change_password ? 'must-change' : 'in' });
}

/** The server knows the login no more. Resolves when somebody has logged in again. */
export function loginAgain(): Promise<void> {
  if (session.get().at === 'in') session.set({ at: 'expired' });
  return new Promise((resolve) => {
    const stop = session.subscribe(() => {
      if (session.get().at !== 'in') return;
      stop();
      resolve();
    });
  });
}

export function mustChange(): void {
  session.set({ at: 'must-change' });
}

export async function logout(): Promise<void> {
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
