/**
 * Streams that answer a request and broke off (05 §10.4.4): the library asks for the rest of one by its last event alone, so
 * whom it answers is kept here, and that nobody gives it any more.
 */
export function createResumptions(lost: (id: number, reason: string) => void) {
  const broken = new Map<string, { readonly id: number; failures: number }>();
  return {
    /** The stream that answers request `id` is over behind this event. */
    broke(event: string, id: number): void {
      broken.set(event, { id, failures: 0 });
      // Of a stream that held its answer nobody asks for the rest.
      const oldest = broken.keys().next();
      if (broken.size > mostBroken && oldest.done !== true) broken.delete(oldest.value);
    },

    /** The request that is answered by the rest behind this event. */
    answers: (event: string): number | undefined => broken.get(event)?.id,

    given: (event: string): boolean => broken.delete(event),

    /** @param final it will not be given later either: the server has forgotten it */
    failed(event: string, reason: string, final: boolean): void {
      const found = broken.get(event);
      if (found === undefined) return;
      found.failures += 1;
      if (!final && found.failures < mostFailures) return;
      broken.delete(event);
      lost(found.id, reason);
    },
  };
}

export type Resumptions = ReturnType<typeof createResumptions>;

const mostBroken = 100;
/** With pauses of 1, 2, 4 and 8 seconds a server has a quarter of a minute to come back. */
const mostFailures = 4;

/** The id of the last event of a stream that is read in pieces. */
export function createEventIds(): { push(text: string): void; last(): string | null } {
  let rest = '';
  let last: string | null = null;
  return {
    push(text) {
      const lines = (rest + text).split(/\r\n|\n|\r/);
      // No id is longer than this; of a longer line only the beginning counts.
      rest = (lines.pop() ?? '').slice(0, 1024);
      for (const line of lines) {
        const id = /^id: ?(.+)$/.exec(line)?.[1];
        if (id !== undefined) last = id;
      }
    },
    last: () => last,
  };
}
