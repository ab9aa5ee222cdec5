import type { Ask, AskState, Verdict } from '../schema/ask.ts';
import type { Asks as AskRows } from '../store/asks.ts';
import type { Audit } from '../store/audit.ts';
import type { EventRef } from '../store/events.ts';
import type { Feed, Record } from '../store/feed.ts';

export type VerdictsDeps = {
  readonly rows: AskRows;
  readonly audit: Audit;
  readonly feed: Feed;
  readonly now: () => number;
  readonly tenant: string;
};

const states = {
  approve: 'approved',
  deny: 'denied',
  answer: 'answered',
  expire: 'expired',
  cancel: 'cancelled',
} as const;

/** What a verdict on an unknown outcome makes of the ask (03 §5). */
const treated = { run_again: 'approved', done: 'answered', skip: 'denied' } as const;

/** Verdicts on their way into rows: each with its audit row and event, and told to who waits once it stands. */
export function createVerdicts({ rows, audit, feed, now, tenant }: VerdictsDeps) {
  const waiters = new Map<string, Set<() => void>>();
  const wake = (ask: Ask): void => {
    for (const look of waiters.get(ask.id) ?? []) look();
  };

  const refOf = (ask: Ask): EventRef => ({
    run_id: ask.run_id,
    session_id: ask.session_id,
    mission_id: ask.mission_id,
    chain_id: ask.chain_id ?? '',
    tenant_id: tenant,
    task: ask.run_id === null ? null : feed.taskOfAsk(ask.run_id, ask.id),
  });

  /** In the caller's transaction. @returns whether this verdict stands, if the transaction does */
  const write = (record: Record, ask: Ask, verdict: Verdict, binding: string | null, cap: number | null): boolean => {
    const state: Exclude<AskState, 'pending'> =
      verdict.treat_as === undefined ? states[verdict.outcome] : treated[verdict.treat_as];
    if (!rows.resolve({ id: ask.id, state, verdict, binding, now: now(), cap })) return false;
    const { feedback, text, edited, ...attributed } = verdict;
    const body = {
      ask_id: ask.id,
      state,
      ...attributed,
      has_feedback: feedback !== undefined,
      has_text: text !== undefined,
      // The arguments are in the decision about the new call.
      ...(edited === undefined ? {} : { edited_by: edited.by }),
    };
    const { run_id, session_id } = ask;
    audit.append({ type: 'verdict', tenant_id: tenant, run_id, session_id, body }, now());
    record(refOf(ask), {
      kind: 'verdict',
      ask_id: ask.id,
      call_id: ask.call_id,
      verdict: state,
      ...(verdict.treat_as === undefined ? {} : { treat_as: verdict.treat_as }),
      by: verdict.by,
      ...(feedback === undefined ? {} : { feedback }),
    });
    return true;
  };

  return {
    refOf,

    /**
     * Resolves inside one transaction: verdict, audit, event, and `also` what goes with it: if that throws, the ask
     * stays pending. @returns whether this verdict stands.
     */
    resolve(
      ask: Ask,
      verdict: Verdict,
      binding: string | null,
      { cap = null, also = () => {} }: { readonly cap?: number | null; readonly also?: () => void } = {},
    ): boolean {
      const stands = feed.commit('full', (record) => {
        if (!write(record, ask, verdict, binding, cap)) return false;
        also();
        return true;
      });
      if (stands) wake(ask);
      return stands;
    },

    /** Several in one transaction: 200 of their own would take half a second. @returns how many stand */
    resolveAll(given: readonly (readonly [Ask, Verdict])[]): number {
      const stand = feed.commit('full', (record) =>
        given.filter(([ask, verdict]) => write(record, ask, verdict, null, null)),
      );
      for (const [ask] of stand) wake(ask);
      return stand.length;
    },

    /** Calls `look` when this process writes a verdict on the ask. @returns the function that ends it */
    listen(id: string, look: () => void): () => void {
      waiters.set(id, (waiters.get(id) ?? new Set()).add(look));
      return () => {
        const set = waiters.get(id);
        set?.delete(look);
        if (set?.size === 0) waiters.delete(id);
      };
    },
  };
}
