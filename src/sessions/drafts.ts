import { is } from 'superstruct';
import { SavedDraft } from '../schema/draft.ts';
import type { Settings } from '../store/settings.ts';

type Deps = { readonly rows: Pick<Settings, 'get' | 'set' | 'delete'>; readonly now: () => number };

const keyOf = (sessionId: string): string => `tui.draft.${sessionId}`;

/** What was written and not sent in a session; it goes with the session (11 §2.2). */
export function createDrafts({ rows, now }: Deps) {
  return {
    /** Null where there is none, or none that this version can read. */
    async readDraft({ session_id }: { readonly session_id: string }): Promise<SavedDraft | null> {
      const text = rows.get(keyOf(session_id));
      if (text === null) return null;
      const value: unknown = JSON.parse(text);
      return is(value, SavedDraft) ? value : null;
    },
    /** The last writer wins; null removes it. */
    async saveDraft(input: { readonly session_id: string; readonly saved: SavedDraft | null }): Promise<null> {
      const key = keyOf(input.session_id);
      if (input.saved === null) rows.delete(key);
      else rows.set(key, JSON.stringify(input.saved), now());
      return null;
    },
  };
}
