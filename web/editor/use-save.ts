import { useEffect, useRef, useState } from 'react';
import { RuntimeError } from '../../src/schema/errors.ts';
import { leadOn } from '../data/lead-on.ts';
import { useAction } from '../data/use-data.ts';
import { announce } from '../frame/announce.tsx';
import { isOutdated } from './outdated.ts';
import type { Draft } from './use-draft.ts';

/** `sha256`: null = somebody has deleted it, and nothing is left of its text. */
type Stored = { readonly text: string; readonly sha256: string };
export type Theirs = Stored | { readonly text: ''; readonly sha256: null };

/** How a document is written and read; what else follows a save is its editor's. */
export type Saving = {
  readonly file: string;
  readonly draft: Draft;
  /** Replaces the version with this digest; null = there is none yet. */
  readonly write: (over: string | null) => Promise<Stored>;
  readonly read: () => Promise<Stored>;
  readonly onSaved: () => void;
  readonly onClose: () => void;
};

/** A save that meets another version shows it, and then replaces that one or gives way to it (09 §8.10). */
export function useSave({ file, draft, write, read, onSaved, onClose }: Saving) {
  const [theirs, setTheirs] = useState<Theirs | null>(null);
  const save = useAction(() => write(theirs === null ? (draft.base?.sha256 ?? null) : theirs.sha256));
  const reading = useRef(read);
  reading.current = read;
  useEffect(() => {
    if (!isOutdated(save.error)) return;
    // What cannot be read for another reason leaves the refusal as it is.
    reading.current().then(setTheirs, (thrown: unknown) => {
      if (thrown instanceof RuntimeError && thrown.code === 'not_found') setTheirs({ text: '', sha256: null });
    });
  }, [save.error]);
  const onSave = async (): Promise<void> => {
    const lead = leadOn();
    const { text } = draft;
    const saved = await save.run();
    if (saved === null) return;
    draft.saved(saved, text);
    announce(`${file} is saved.`);
    lead(onSaved);
    onClose();
  };
  return {
    theirs,
    busy: save.busy,
    error: theirs === null ? save.error : null,
    onSave: () => void onSave(),
    onTake: () => {
      if (theirs !== null && theirs.sha256 !== null) draft.take(theirs);
      onClose();
    },
  };
}
