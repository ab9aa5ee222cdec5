import type { Ask, AskState, Preview, Verdict } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { Evaluation } from '../schema/policy.ts';
import type { PolicyState } from '../schema/run.ts';
import type { AskFilter, Asks as AskRows } from '../store/asks.ts';
import type { Audit } from '../store/audit.ts';
import type { EventRef } from '../store/events.ts';
import type { Feed, Record } from '../store/feed.ts';
import { newId } from '../text/ids.ts';

/** Who acts, fixed when a client is made; never read from a request (03 §5). */
export type Actor = { readonly by: string; readonly name: string | null; readonly client: string };

export type RaiseInput = {
  readonly ref: EventRef & { readonly run_id: string; readonly mission_id: string };
  readonly task_id: string;
  readonly call_id: string;
  readonly tools: string;
  readonly tool: string;
  /** Final arguments, masked. */
  readonly args: unknown;
  readonly summary: string;
  readonly preview: Preview;
  readonly cwd: string;
  readonly evaluation: Evaluation;
  readonly policy: PolicyState;
  readonly call_hash: string;
  readonly binding: string;
};

export type AnswerInput = {
  readonly id: string;
  readonly outcome: 'approve' | 'deny' | 'answer' | 'cancel';
  readonly feedback: string | null;
  readonly text: string | null;
  readonly binding: string | null;
};

export type AsksDeps = {
  readonly rows: AskRows;
  readonly audit: Audit;
  readonly feed: Feed;
  readonly now: () => number;
  /** Operator's ceiling in milliseconds; null = `never` (03 §4). */
  readonly ceilingMs: () => number | null;
  readonly tenant: string;
};

/** An identical verdict repeated within this time returns the stored result (03 §5). */
const repeatMs = 60_000;
const maxFeedback = 4_000;
const maxSummary = 120;

const states = {
  approve: 'approved',
  deny: 'denied',
  answer: 'answered',
  expire: 'expired',
  cancel: 'cancelled',
} as const;

/** Durable questions to a person (chapter 03): a row before anybody waits, and exactly one verdict. */
export function createAsks(deps: AsksDeps) {
  const { rows, audit, feed, now } = deps;
  const waiters = new Map<string, Set<() => void>>();

  const refOf = (ask: Ask): EventRef => ({
    run_id: ask.run_id,
    session_id: ask.session_id,
    mission_id: ask.mission_id,
    chain_id: ask.chain_id ?? '',
    tenant_id: deps.tenant,
  });

  /** Resolves inside one transaction: verdict, audit, event. @returns whether this verdict stands. */
  const resolve = (ask: Ask, verdict: Verdict, binding: string | null): boolean => {
    const state: Exclude<AskState, 'pending'> = states[verdict.outcome];
    const stands = feed.commit('full', (record) => {
      if (!rows.resolve(ask.id, state, verdict, binding, now())) return false;
      const { feedback, text, ...attributed } = verdict;
      audit.append(
        {
          type: 'verdict',
          tenant_id: deps.tenant,
          run_id: ask.run_id,
          session_id: ask.session_id,
          body: {
            ask_id: ask.id,
            state,
            ...attributed,
            has_feedback: feedback !== undefined,
            has_text: text !== undefined,
          },
        },
        now(),
      );
      record(refOf(ask), {
        kind: 'verdict',
        ask_id: ask.id,
        call_id: ask.call_id,
        verdict: state,
        by: verdict.by,
        ...(feedback === undefined ? {} : { feedback }),
      });
      return true;
    });
    if (stands) for (const wake of waiters.get(ask.id) ?? []) wake();
    return stands;
  };

  const systemVerdict = (ask: Ask, outcome: Verdict['outcome'], by: string): Verdict => ({
    outcome,
    by,
    at: new Date(now()).toISOString(),
    binding: ask.binding,
  });

  /** A reader sees a passed deadline as expired, whether or not a sweep has come by (03 §2). */
  const fresh = (ask: Ask): Ask => {
    if (ask.state !== 'pending' || ask.expires_at === null || Date.parse(ask.expires_at) > now()) return ask;
    resolve(ask, systemVerdict(ask, 'expire', 'system:timeout'), null);
    return rows.get(ask.id) ?? ask;
  };

  const find = (part: string): Ask => {
    const exact = rows.get(part);
    if (exact !== undefined) return fresh(exact);
    const candidates = part.replace(/^ask_/, '').length < 4 ? [] : rows.candidates(part);
    const [id, ...others] = candidates;
    const ask = id === undefined ? undefined : rows.get(id);
    if (ask === undefined) {
      throw new RuntimeError('not_found', `no such ask: ${part}`, { hints: ['reins approvals list'] });
    }
    if (others.length > 0)
      throw new RuntimeError('ambiguous_id', `"${part}" names several asks: ${candidates.join(', ')}`);
    return fresh(ask);
  };

  return {
    /**
     * Inserts the ask, its event and its audit row in the caller's transaction. Nobody may wait on it before that has
     * been committed.
     */
    raise(record: Record, input: RaiseInput): string {
      const at = now();
      const id = newId('ask', at);
      const { evaluation } = input;
      const expires_at = deadline(evaluation.timeout_s, at, deps.ceilingMs());
      const summary = cutSummary(input.summary);
      rows.insert({
        id,
        tenant_id: deps.tenant,
        kind: 'permission',
        run_id: input.ref.run_id,
        session_id: input.ref.session_id,
        mission_id: input.ref.mission_id,
        chain_id: input.ref.chain_id,
        task_id: input.task_id,
        call_id: input.call_id,
        tools: input.tools,
        tool: input.tool,
        args: input.args,
        summary,
        preview: input.preview,
        cwd: input.cwd,
        record: evaluation,
        policy: input.policy,
        call_hash: input.call_hash,
        binding: input.binding,
        preimage: input.preview.preimage ?? null,
        timeout_s: evaluation.timeout_s,
        on_timeout: evaluation.timeout_s === -1 ? null : evaluation.on_timeout,
        expires_at,
        created_at: at,
      });
      audit.append(
        {
          type: 'ask',
          tenant_id: deps.tenant,
          run_id: input.ref.run_id,
          session_id: input.ref.session_id,
          body: {
            ask_id: id,
            tools: input.tools,
            tool: input.tool,
            call_hash: input.call_hash,
            binding: input.binding,
          },
        },
        at,
      );
      record(input.ref, {
        kind: 'ask',
        ask_id: id,
        ask_kind: 'permission',
        call_id: input.call_id,
        tools: input.tools,
        tool: input.tool,
        args: input.args,
        summary,
        ...(input.preview.diff === undefined ? {} : { diff: input.preview.diff }),
        expires_at: expires_at === null ? null : new Date(expires_at).toISOString(),
      });
      return id;
    },

    /**
     * Waits until the row has its verdict, whoever writes it, in this process or another. On abort the ask becomes
     * `cancelled`, by `system:cancelled`, unless a verdict came first; that one is returned then. When the abort's reason
     * is a run that rests (code `interrupted` or `suspended`), the ask stays pending and the wait rejects with it.
     */
    async wait(id: string, signal: AbortSignal): Promise<Ask> {
      const read = (): Ask => {
        const ask = rows.get(id);
        if (ask === undefined) throw new RuntimeError('storage', `ask ${id} is gone from the database`);
        return fresh(ask);
      };
      const ask = read();
      if (ask.state !== 'pending') return ask;
      return new Promise<Ask>((resolvePromise, reject) => {
        let stopPolling: () => void = () => {};
        let timer: NodeJS.Timeout | undefined;
        const look = (): void => {
          try {
            const current = read();
            if (current.state === 'pending') return;
            finish();
            resolvePromise(current);
          } catch (error) {
            finish();
            reject(error);
          }
        };
        const abort = (): void => {
          if (rests(signal.reason)) {
            finish();
            reject(signal.reason);
            return;
          }
          try {
            resolve(ask, systemVerdict(ask, 'cancel', 'system:cancelled'), null);
          } catch (error) {
            finish();
            reject(error);
            return;
          }
          look();
        };
        const finish = (): void => {
          clearTimeout(timer);
          stopPolling();
          signal.removeEventListener('abort', abort);
          const set = waiters.get(id);
          set?.delete(look);
          if (set?.size === 0) waiters.delete(id);
        };
        waiters.set(id, (waiters.get(id) ?? new Set()).add(look));
        signal.addEventListener('abort', abort, { once: true });
        stopPolling = feed.poll(look);
        if (ask.expires_at !== null)
          timer = armDeadline(Date.parse(ask.expires_at), now, look, (next) => (timer = next));
        if (signal.aborted) abort();
        else look();
      });
    },

    /** Marks that the run took the verdict; in the caller's transaction. */
    delivered: (id: string): void => rows.delivered(id, now()),

    /** Links a replaced ask to the one that took its place; in the caller's transaction. */
    supersede: (id: string, by: string): void => rows.supersede(id, by),

    /** Closes an ask whose call will not run as asked. @returns whether it was still pending. */
    close(id: string, outcome: 'deny' | 'cancel', by: string): boolean {
      const ask = rows.get(id);
      return ask !== undefined && resolve(ask, systemVerdict(ask, outcome, by), null);
    },

    cancelOfRun(runId: string): void {
      for (const id of rows.pendingOfRun(runId)) {
        const ask = rows.get(id);
        if (ask !== undefined) resolve(ask, systemVerdict(ask, 'cancel', 'system:cancelled'), null);
      }
    },

    /**
     * Answers an open ask. The first answer wins; an identical one repeated within 60 s gets the stored result.
     * @throws RuntimeError not_found, ambiguous_id, wrong_kind, already_answered, expired, binding_changed
     */
    answer(input: AnswerInput, actor: Actor): { ask: Ask; yours: boolean } {
      const ask = find(input.id);
      if (input.outcome === 'answer' && ask.kind !== 'question') {
        throw new RuntimeError('wrong_kind', `${ask.id} is a ${ask.kind}: it takes approve or deny`);
      }
      if (input.outcome === 'approve' && ask.kind === 'question') {
        throw new RuntimeError('wrong_kind', `${ask.id} is a question: it takes an answer`);
      }
      const feedback =
        input.outcome === 'deny' && input.feedback !== null ? input.feedback.slice(0, maxFeedback) : null;
      const verdict: Verdict = {
        outcome: input.outcome,
        by: actor.by,
        ...(actor.name === null ? {} : { name: actor.name }),
        ...(feedback === null || feedback === '' ? {} : { feedback: feedback.toWellFormed() }),
        ...(input.text === null ? {} : { text: input.text.toWellFormed() }),
        at: new Date(now()).toISOString(),
        binding: input.binding ?? ask.binding,
      };
      if (
        ask.state === 'pending' &&
        resolve(ask, verdict, input.binding === null ? null : fullBinding(ask, input.binding))
      ) {
        return { ask: rows.get(ask.id) ?? ask, yours: true };
      }
      return { ask: refuse(rows.get(ask.id) ?? ask, input, actor, now()), yours: false };
    },

    show: (id: string): Ask => find(id),

    /** Sweeps, then lists, soonest deadline first. */
    list(filter: AskFilter): { asks: Ask[]; total: number; expired: number } {
      let expired = 0;
      for (const ask of rows.due(now())) if (fresh(ask).state === 'expired') expired += 1;
      return { ...rows.list(filter), expired };
    },

    ofRun: (runId: string): Ask[] => rows.ofRun(runId),
    pendingOfRun: (runId: string): string[] => rows.pendingOfRun(runId),
  };
}

export type Asks = ReturnType<typeof createAsks>;

const rests = (reason: unknown): boolean =>
  reason instanceof RuntimeError && (reason.code === 'interrupted' || reason.code === 'suspended');

/** 03 §4: a rule's own time is not shortened by the ceiling; -1 has none; 0 takes the ceiling. */
function deadline(timeoutS: number, at: number, ceilingMs: number | null): number | null {
  if (timeoutS === -1) return null;
  if (timeoutS > 0) return at + timeoutS * 1000;
  return ceilingMs === null ? null : at + ceilingMs;
}

/** Timers hold at most 2^31 ms, and the clock may be set: look again at least once an hour. */
function armDeadline(
  at: number,
  now: () => number,
  look: () => void,
  keep: (timer: NodeJS.Timeout) => void,
): NodeJS.Timeout {
  const left = Math.min(Math.max(at - now(), 0) + 1, 3_600_000);
  return setTimeout(() => {
    look();
    if (at > now()) keep(armDeadline(at, now, look, keep));
  }, left);
}

/** Cards print 12 hex of the binding; an answer may name those. */
const fullBinding = (ask: Ask, given: string): string =>
  given.length >= 12 && ask.binding.startsWith(given.toLowerCase()) ? ask.binding : given;

/** Why an answer did not stand: read from the row that does. */
function refuse(ask: Ask, input: AnswerInput, actor: Actor, now: number): Ask {
  const { verdict } = ask;
  if (ask.state === 'pending') {
    throw new RuntimeError(
      'binding_changed',
      `${ask.id} is not what was looked at: arguments, policy or file changed`,
      {
        hints: [`reins approvals show ${ask.id}`],
      },
    );
  }
  if (ask.state === 'expired') {
    throw new RuntimeError(
      'expired',
      `${ask.id} expired at ${ask.resolved_at ?? ask.expires_at}; that counted as a denial`,
    );
  }
  const sameWithin =
    verdict !== null &&
    verdict.by === actor.by &&
    verdict.outcome === input.outcome &&
    (input.binding === null || fullBinding(ask, input.binding) === ask.binding) &&
    now - Date.parse(verdict.at) <= repeatMs;
  if (sameWithin) return ask;
  throw new RuntimeError(
    'already_answered',
    `${ask.id} was already ${ask.state} by ${verdict?.by ?? 'system'} at ${ask.resolved_at ?? ''}`,
    { data: { state: ask.state, by: verdict?.by ?? null, at: ask.resolved_at } },
  );
}

/** One line of 1 to 120 characters; faces escape what is hostile in it. */
function cutSummary(text: string): string {
  const line = text.toWellFormed().split('\n', 1)[0] ?? '';
  const points = [...(line === '' ? text.trim() || '(empty)' : line)];
  return points.length > maxSummary ? `${points.slice(0, maxSummary - 1).join('')}…` : points.join('');
}
