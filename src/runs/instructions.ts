import type { Instructions, InstructionsView } from '../schema/instructions.ts';
import type { BlobStore } from './images.ts';

/** Instructions without their text, as events and results tell of them. */
export const viewsOf = (instructions: readonly Instructions[]): readonly InstructionsView[] =>
  instructions.map(({ text: _text, ...view }) => view);

/** Keeps what a run was given, once for each text; in the caller's transaction. @returns what the row of the run names it by */
export const storeInstructions = (
  { documents, mask }: { readonly documents: BlobStore; readonly mask: <T>(value: T) => T },
  instructions: readonly Instructions[],
  at: number,
): readonly InstructionsView[] =>
  instructions.map(({ text, ...view }) =>
    text === '' ? view : { ...view, sha256: documents.putBlob(Buffer.from(mask(text)), at) },
  );

/** What a run that goes on was given when it began; a file that has changed since counts with the next turn. */
export const storedInstructions = (blobs: BlobStore, stored: readonly InstructionsView[]): readonly Instructions[] =>
  stored.map((view) => {
    const bytes = view.sha256 === undefined ? null : blobs.blob(view.sha256);
    return { ...view, text: bytes === null ? '' : Buffer.from(bytes).toString('utf8') };
  });
