import { useEffect, useState } from 'react';

/** A document as the server had it at some time. */
type Version = { readonly text: string; readonly sha256: string };

/** A document that is being edited: what it was read as, and what it is now. */
export type Draft = {
  /** What changes count from; null for one that is not there yet. */
  readonly base: Version | null;
  readonly text: string;
  readonly dirty: boolean;
  /** The server has another version by now than the one that was changed. */
  readonly outdated: boolean;
  setText(text: string): void;
  /** Gives the changes up for what the server has. */
  undo(): void;
  /** Takes what somebody else has saved for its own changes. */
  take(theirs: Version): void;
  /** The text that was sent is saved: changes count from here, those among them that were made meanwhile. */
  saved(base: Version, sent: string): void;
};

/**
 * A draft of a document, kept in this tab until it is saved, so that a reload or an ended login loses nothing. Where
 * nothing was changed it follows what the server has.
 * @param read what the server has; null = it has none
 */
export function useDraft(name: string, read: Version | null): Draft {
  const key = keyOf(name);
  const [{ base, text }, hold] = useState(() => {
    const kept = keptAt(key);
    return kept === null || kept.text === read?.text ? unchanged(read) : kept;
  });
  const dirty = text !== (base?.text ?? '');
  // What was read is compared with what was read before: a save is known here before it is read again.
  const [seen, see] = useState(read?.sha256);
  if (read !== null && read.sha256 !== seen) {
    see(read.sha256);
    if (!dirty) hold(unchanged(read));
  }
  useEffect(() => {
    if (dirty) keepAt(key, { base, text });
    else sessionStorage.removeItem(key);
  }, [key, base, text, dirty]);
  useEffect(() => {
    if (!dirty) return;
    const stay = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', stay);
    return () => removeEventListener('beforeunload', stay);
  }, [dirty]);
  return {
    base,
    text,
    dirty,
    outdated: dirty && read !== null && base !== null && read.sha256 !== base.sha256,
    setText: (next) => hold({ base, text: next }),
    undo: () => hold(unchanged(read)),
    take: (theirs) => hold(unchanged(theirs)),
    saved: (next, sent) => hold((now) => (now.text === sent ? unchanged(next) : { base: next, text: now.text })),
  };
}

/** The changes are of one version: what they are laid over after a reload is still that one. */
type Kept = { readonly base: Version | null; readonly text: string };

const unchanged = (version: Version | null): Kept => ({ base: version, text: version?.text ?? '' });

const keyOf = (name: string): string => `draft:${name}`;
const keepAt = (key: string, kept: Kept): void => sessionStorage.setItem(key, JSON.stringify(kept));

function keptAt(key: string): Kept | null {
  const kept = sessionStorage.getItem(key);
  // Nobody else writes under these keys.
  return kept === null ? null : (JSON.parse(kept) as Kept);
}

/** Leaves a text for the page that makes a new document of it. */
export const leaveDraft = (name: string, text: string): void => keepAt(keyOf(name), { base: null, text });
export const hasDraft = (name: string): boolean => sessionStorage.getItem(keyOf(name)) !== null;
