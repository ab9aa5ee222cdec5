import { array, type Infer, number, object, string } from 'superstruct';

/** What of a composer outlives the program (10 §6.9): its text, where the caret was, its pastes, and its queue. */
export const SavedDraft = object({
  draft: object({
    text: string(),
    caret: number(),
    /** A long paste stands in the text as one mark. */
    pastes: array(object({ mark: string(), number: number(), text: string() })),
  }),
  queue: array(object({ text: string(), images: array(string()) })),
});
export type SavedDraft = Infer<typeof SavedDraft>;
