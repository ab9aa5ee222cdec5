import { readJson } from '../text/read-json.ts';

/**
 * What a run came to, as its row keeps it. The answer of a transcript is a message of the run, and is not stored a second
 * time: the row has its number.
 */
export type StoredOutput =
  | { readonly type: string; readonly text: string }
  | { readonly type: string; readonly message: number };

/** SQL of the answer that the output of a run refers to; null where the row has the text itself. @param run its table */
export const answerOf = (run: string): string => `(SELECT json_extract(m.payload, '$.content') FROM run_messages m
  WHERE m.run_id = ${run}.id AND m.seq = CASE WHEN json_valid(${run}.output) THEN json_extract(${run}.output, '$.message') END)`;

/** @param answer what `answerOf` gave @returns null for a run without output, or with a damaged one */
export function readOutput(
  stored: string | null,
  answer: string | null,
): { readonly type: string; readonly text: string } | null {
  const output = stored === null ? null : readJson<StoredOutput | null>(stored, null);
  if (output === null) return null;
  return { type: output.type, text: 'text' in output ? output.text : (answer ?? '') };
}
