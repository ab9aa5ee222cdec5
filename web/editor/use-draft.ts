import { useEffect, useState } from 'react';

/** A document that is being edited: what it was read as, and what it is now. */
export type Draft = {
  /** As it was read, and its digest; null for one that is not there yet. */
  readonly base: { readonly text: string; readonly sha256: string } | null;
  readonly text: string;
  readonly dirty: boolean;
  setText(text: string): void;
  /** It was saved or read anew: changes count from here. */
  rebase(base: { readonly text: string; readonly sha256: string }, text?: string): void;
};

/**
 * A draft of a document, kept in this tab until it is saved, so that a reload or an ended login loses nothing.
 * @param read what the server has; null = it has none
 */
export function useDraft(name: string, read: { readonly text: string; readonly sha256: string } | null): Draft {
  const key = `draft:${name}`;
  const [base, setBase] = useState(read);
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? read?.text ?? '');
  const dirty = text !== (base?.text ?? '');
  useEffect(() => {
    if (dirty) sessionStorage.setItem(key, text);
    else sessionStorage.removeItem(key);
  }, [key, text, dirty]);
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
    setText,
    rebase(next, other) {
      setBase(next);
      setText(other ?? next.text);
    },
  };
}

/** Leaves a text for the page that edits it. */
export const leaveDraft = (name: string, text: string): void => sessionStorage.setItem(`draft:${name}`, text);
export const hasDraft = (name: string): boolean => sessionStorage.getItem(`draft:${name}`) !== null;
