import { useEffect, useRef, useState } from 'react';
import { useAction } from '../data/use-data.ts';
import { announce } from '../frame/announce.tsx';
import { isOutdated } from './outdated.ts';
import type { Draft } from './use-draft.ts';

type Stored = { readonly text: string; readonly sha256: string };

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
  const [theirs, setTheirs] = useState<Stored | null>(null);
  const save = useAction((over: string | null) => write(over ?? draft.base?.sha256 ?? null));
  const reading = useRef(read);
  reading.current = read;
  useEffect(() => {
    if (isOutdated(save.error)) void reading.current().then(setTheirs);
  }, [save.error]);
  const onSave = async (over: string | null): Promise<void> => {
    const saved = await save.run(over);
    if (saved === null) return;
    draft.rebase(saved);
    announce(`${file} is saved.`);
    onSaved();
    onClose();
  };
  return {
    theirs,
    busy: save.busy,
    error: theirs === null ? save.error : null,
    onSave: (over: string | null) => void onSave(over),
    onTake: () => {
      if (theirs !== null) draft.rebase(theirs);
      onClose();
    },
  };
}
