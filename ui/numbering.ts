import type { RuntimeClient } from '../src/client/operations.ts';
import type { SessionPage } from '../src/schema/session.ts';
import type { Action } from './actions.ts';
import type { OpenSession } from './state.ts';

export type NumberingDeps = {
  readonly session: () => OpenSession | null;
  readonly dispatch: (action: Action) => void;
};

/** Messages that came while they were written have their numbers when their run has ended. */
export function createNumbering({ session, dispatch }: NumberingDeps) {
  /** The newest message whose number is known. */
  let newest: { readonly of: string | null; readonly seq: number } = { of: null, seq: 0 };

  return {
    /** A session was opened, and read to this number. */
    begin(of: string, seq: number): void {
      newest = { of, seq };
    },

    /** Reads the numbers behind it. */
    async read(client: RuntimeClient): Promise<void> {
      const id = session()?.id;
      if (id === undefined) return;
      const numbers = new Map<string, number>();
      for (let after: number | null = newest.of === id ? newest.seq : 0; after !== null; ) {
        const page: SessionPage = await client.exportSession({ session: { id }, after });
        for (const message of page.messages) numbers.set(message.id, message.seq);
        newest = { of: id, seq: page.messages.at(-1)?.seq ?? after };
        after = page.next;
      }
      dispatch({ type: 'stored', numbers });
    },
  };
}
