/**
 * A text that is being edited. A long paste stands in it as one mark, a character of a private range that `pastes`
 * names; a character of that range which `pastes` does not name is an ordinary one.
 */
export type Draft = {
  readonly text: string;
  /** UTF-16 units before the caret; always a border of clusters. */
  readonly caret: number;
  readonly pastes: readonly PastedText[];
};

export type PastedText = { readonly mark: string; readonly number: number; readonly text: string };

export const emptyDraft: Draft = { text: '', caret: 0, pastes: [] };

export const draftOf = (text: string): Draft => ({ text, caret: text.length, pastes: [] });

/** The text that is sent: every paste in full. */
export function wholeText({ text, pastes }: Draft): string {
  let out = text;
  for (const { mark, text: pasted } of pastes) out = out.replaceAll(mark, () => pasted);
  return out;
}

/** The paste that a cluster stands for. */
export const pasteOf = (draft: Pick<Draft, 'pastes'>, cluster: string): PastedText | undefined =>
  draft.pastes.find(({ mark }) => mark === cluster);

/** `[Pasted 1: 412 lines]`, as a long paste is shown (10 §6.2). */
export function pasteLabel({ number, text }: PastedText): string {
  const lines = text.split('\n').length;
  return `[Pasted ${number}: ${lines > 1 ? `${lines} lines` : `${text.length} characters`}]`;
}

const firstMark = 0x10f800;
const lastMark = 0x10fffd;

/** A mark that neither the draft nor what is put into it holds; null when there is none left. */
export function freeMark(draft: Draft, incoming: string): string | null {
  for (let code = firstMark; code <= lastMark; code += 1) {
    const mark = String.fromCodePoint(code);
    const taken = draft.text.includes(mark) || incoming.includes(mark) || pasteOf(draft, mark) !== undefined;
    if (!taken) return mark;
  }
  return null;
}

/** Foreign text cannot name a paste: characters that are marks now are replaced in it. */
export function withoutMarks(draft: Pick<Draft, 'pastes'>, incoming: string): string {
  let out = incoming;
  for (const { mark } of draft.pastes) out = out.replaceAll(mark, '\ufffd');
  return out;
}
