import { clientRepeating } from '../data/client.ts';
import { keptInTab } from '../data/kept-in-tab.ts';
import type { Store } from '../data/store.ts';

/** With what a message is sent, where it is not the standard. */
export type SendOptions = {
  readonly model?: string;
  readonly chain?: string;
  readonly policy?: string;
  readonly shell?: boolean;
};

/** A message on its way, from the press that sends it until a server has taken it. */
export type Outgoing = {
  readonly id: string;
  /** What it is sent under, however often (09 §5.4). */
  readonly key: string;
  readonly text: string;
  readonly options: SendOptions;
  /** How often the same had been said in the chat before. */
  readonly before: number;
  /** What a server has said against it; null = none has said anything. */
  readonly refused: { readonly code: string; readonly message: string } | null;
};

const standard: SendOptions = {};
const none: readonly Outgoing[] = [];

// Nobody else writes under these names, so what is an object is ours.
const textIn = (kept: unknown): string | null => (typeof kept === 'string' ? kept : null);
const optionsIn = (kept: unknown) => (typeof kept === 'object' ? (kept as SendOptions | null) : null);
const outgoingIn = (kept: unknown) => (Array.isArray(kept) ? (kept as readonly Outgoing[]) : null);

/** What is being written to a chat. */
export const draftOf = (session: string): Store<string> => keptInTab(`chat draft ${session}`, '', textIn);
/** What the next messages to it are sent with: going elsewhere and back does not put them under another policy. */
export const optionsOf = (session: string): Store<SendOptions> =>
  keptInTab(`chat options ${session}`, standard, optionsIn);
/** What was sent to it and not taken yet. */
export const outgoingOf = (session: string): Store<readonly Outgoing[]> =>
  keptInTab(`chat outgoing ${session}`, none, outgoingIn);

/** A chat has another name. */
export function moveKept(from: string, to: string): void {
  move(draftOf(from), draftOf(to), '');
  move(optionsOf(from), optionsOf(to), standard);
  move(outgoingOf(from), outgoingOf(to), none);
}

/** A chat is gone by somebody's wish: one that gets its name is another one. */
export function forgetKept(session: string): void {
  draftOf(session).set('');
  optionsOf(session).set(standard);
  outgoingOf(session).set(none);
}

function move<T>(from: Store<T>, to: Store<T>, nothing: T): void {
  to.set(from.get());
  from.set(nothing);
}

/** Puts a text behind what is being written. */
export function addToDraft(session: string, text: string): void {
  const draft = draftOf(session);
  const written = draft.get().trimEnd();
  draft.set(written === '' ? text : `${written}\n\n${text}`);
}

type Answered = ReturnType<ReturnType<typeof clientRepeating>['postMessage']>;
const underWay = new Map<string, Answered>();

export const isUnderWay = ({ id }: Outgoing): boolean => underWay.has(id);

/**
 * Sends a message, and keeps it until it was taken: whoever leaves the page, or loads it anew, finds it where it was.
 * @returns what is under way already where it is being sent
 */
export function deliver(session: string, message: Outgoing): Answered {
  const known = underWay.get(message.id);
  if (known !== undefined) return known;
  hold(session, message);
  const { key, text, options } = message;
  const answered = clientRepeating(key)
    .postMessage({ session, text, ...options })
    .then(
      (started) => {
        letGo(session, message.id);
        return started;
      },
      (thrown: unknown) => {
        underWay.delete(message.id);
        throw thrown;
      },
    );
  underWay.set(message.id, answered);
  return answered;
}

/** Puts a message among those that are on their way, or another version of it in its place. */
export function hold(session: string, message: Outgoing): void {
  const outgoing = outgoingOf(session);
  outgoing.set([...outgoing.get().filter(({ id }) => id !== message.id), message]);
}

export function letGo(session: string, id: string): void {
  underWay.delete(id);
  const outgoing = outgoingOf(session);
  const left = outgoing.get().filter((message) => message.id !== id);
  outgoing.set(left.length === 0 ? none : left);
}
