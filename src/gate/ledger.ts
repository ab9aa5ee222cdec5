import type { Preview } from '../schema/ask.ts';
import { readsFiles, type ToolSpec } from '../schema/message.ts';
import type { Record as Recorder } from '../store/feed.ts';
import { quote } from '../text/quote.ts';
import type { BuiltInProvider } from '../schema/tool-names.ts';
import type { ToolResult } from '../tools/tool.ts';
import { bindingOf } from './binding.ts';
import { createEntries, type LedgerDeps, namesOf, parsed } from './entries.ts';
import type { InstructionTexts } from './instructions-watch.ts';
import { wasAskedAbout } from './named-file.ts';
import { createNotRun } from './not-run.ts';
import type { Rendered } from './result.ts';
import type { GateRun } from './run.ts';
import type { AskedCall, GateCall, Judged, PlannedCall, Started } from './stages.ts';
import { underLease } from './under-lease.ts';

/** What the gate writes down, each act one transaction of row, audit and event (11 §2.8). */
export function createLedger(deps: LedgerDeps) {
  const { feed, calls, runs, now } = deps;
  const entries = createEntries(deps);
  const { pending, decision, entry, insert } = entries;

  /** Tells what the call made of the instructions for agents, where no question about it named them. */
  const settleInstructions = (
    record: Recorder,
    call: GateCall,
    judged: Judged,
    { seq, found }: Started,
    left: InstructionTexts,
  ): void => {
    const { run } = call;
    const names = namesOf(call.found);
    const by = deps.mask(`${names.tools}.${names.tool} ${judged.prepared.summary}`);
    const named = (path: string): boolean => wasAskedAbout(deps.asks, call, judged, path);
    for (const path of deps.instructions.end(keyOf(run, seq), found ?? {}, left, { by, named })) {
      const message = `${path} was changed by a call, and no question about that named it: models are not given it until you trust it (reins trust add ${quote(path)}).`;
      record(run.ref, { kind: 'notice', level: 'warn', code: 'instructions_withheld', message });
    }
  };

  return {
    ...createNotRun(deps, entries),

    /**
     * Plans the call and raises its ask; a changed call gets a new ask.
     * @param replaced the ask in whose place this one comes
     */
    ask(call: GateCall, judged: Judged, preview: Preview, replaced: string | null): AskedCall {
      const { run, request, planned } = call;
      run.ahead.flush();
      const { policy } = judged.evaluation;
      const args = deps.mask(judged.prepared.shown);
      const question = call.found.tool.question?.(judged.prepared.args) ?? null;
      return underLease(deps, run, 'full', (record) => {
        if (planned === null) pending(record, call, namesOf(call.found), args);
        decision(record, call, judged, args);
        const seq = planned?.seq ?? insert(call, judged, 'planned');
        const ask_id = deps.asks.raise(record, {
          kind: question === null ? 'permission' : 'question',
          ref: run.ref,
          task_id: request.task_id,
          call_id: request.call_id,
          ...namesOf(call.found),
          args: deps.maskKnown(judged.prepared.shown),
          summary: deps.maskKnown(judged.prepared.summary),
          preview: deps.maskKnown(preview),
          question: deps.maskKnown(question),
          cwd: judged.prepared.cwd,
          evaluation: deps.maskKnown(judged.evaluation),
          policy,
          call_hash: judged.hash,
          binding: bindingOf(judged.hash, policy.sha256, preview.preimage?.sha256 ?? null),
        });
        calls.setAsk(run.ref.run_id, seq, ask_id);
        if (replaced !== null) {
          // Still open where what it is about has changed before anybody answered.
          deps.asks.close(replaced, 'cancel', 'system:superseded');
          deps.asks.supersede(replaced, ask_id);
        }
        return { ...call, planned: { seq, ask_id } };
      });
    },

    /**
     * The operator has made another call of a planned one; a question about it brings its own decision.
     * @param answered the ask that he answered with it
     */
    change(call: PlannedCall, judged: Judged, answered: string): void {
      const { run, planned } = call;
      run.ahead.flush();
      const args = deps.mask(judged.prepared.shown);
      underLease(deps, run, 'full', (record) => {
        deps.asks.delivered(answered);
        // Whoever follows the run has shown the call with the arguments of the model.
        pending(record, call, namesOf(call.found), args);
        if (judged.evaluation.action !== 'approve') decision(record, call, judged, args);
        const { hash: call_hash } = judged;
        calls.change(run.ref.run_id, planned.seq, {
          args: deps.maskKnown(judged.prepared.shown),
          call_hash,
          record: deps.maskKnown(judged.evaluation),
        });
      });
    },

    /**
     * Reserves the call and makes it `started`, on the disk before anything leaves the machine: what only reads files
     * here is there with the checkpoint ahead of the model. @returns null when the lease is another's: nothing may start.
     */
    start(call: GateCall, judged: Judged): Started | null {
      const { run, request, found, planned } = call;
      const names = namesOf(found);
      const args = deps.mask(judged.prepared.shown);
      const at = now();
      const texts = mayChangeFiles(found.tool.spec) ? deps.instructions.look() : null;
      const started = feed.commit(readsFiles(found.tool.spec) ? 'normal' : 'full', (record) => {
        if (!runs.holdsLease(run.ref.run_id, run.owner)) return null;
        const isTaken =
          planned === null ||
          calls.start(run.ref.run_id, planned.seq, run.owner, deps.maskKnown(judged.evaluation), at);
        if (!isTaken) return null;
        run.ahead.write(record);
        if (planned === null) {
          pending(record, call, namesOf(call.found), args);
          decision(record, call, judged, args);
        } else if (planned.ask_id !== null) deps.asks.delivered(planned.ask_id);
        const seq = planned?.seq ?? insert(call, judged, 'started');
        run.counters = { ...run.counters, tool_calls: run.counters.tool_calls + 1 };
        runs.setCounters(run.ref.run_id, run.counters);
        entry(run, 'effect', { call_id: request.call_id, ...names, call_hash: judged.hash, state: 'started' });
        if (texts !== null) deps.instructions.begin(keyOf(run, seq), texts);
        record(run.ref, { kind: 'tool_call_started', call_id: request.call_id, ...names });
        return { seq, at, found: texts };
      });
      if (started !== null) run.ahead.stands();
      return started;
    },

    setPid(run: GateRun, started: Started, pid: number): void {
      const start = deps.pidStart(pid);
      feed.commit('normal', () => calls.setPid(run.ref.run_id, started.seq, pid, start));
    },

    /**
     * Records the outcome. It is on the disk before anybody is told of it: the next durable write (the checkpoint ahead of
     * the model, the start of a call, an ask) comes first and the log keeps the order. @returns false when the lease is
     * another's.
     */
    end(call: GateCall, judged: Judged, started: Started, result: ToolResult, rendered: Rendered): boolean {
      const { run, request, found } = call;
      const names = namesOf(found);
      const { bytes: result_bytes, sha256: result_sha256, output_ref } = rendered;
      const at = now();
      const left = started.found === null ? null : deps.instructions.look();
      return feed.commit('normal', (record) => {
        const state = result.ok ? 'done' : result.error === 'outcome_unknown' ? 'unknown' : 'failed';
        const whole = result.ok && !rendered.truncated && isValue(result.value) && !run.changed.has(request.call_id);
        const stored = calls.end(run.ref.run_id, started.seq, run.owner, {
          state,
          result: whole ? result.value : parsed(rendered.content),
          result_bytes,
          result_sha256,
          output_ref,
          at,
        });
        if (!stored) return false;
        entry(run, 'effect', {
          call_id: request.call_id,
          ...names,
          call_hash: judged.hash,
          state,
          result_sha256,
          result_bytes,
        });
        record(run.ref, {
          kind: 'tool_call',
          call_id: request.call_id,
          ...names,
          ok: result.ok,
          ...(result.ok ? {} : { error: result.error }),
          result: rendered.content,
          result_bytes,
          truncated_result: rendered.truncated,
          ...(output_ref === null ? {} : { output_ref }),
          duration_ms: Math.max(0, at - started.at),
        });
        if (left !== null) settleInstructions(record, call, judged, started, left);
        return true;
      });
    },

    /** The call is over, whether its outcome stands or not. */
    release: (run: GateRun, { seq }: Started): void => deps.instructions.release(keyOf(run, seq)),

    deniedBefore: (run: GateRun, hash: string): boolean => calls.deniedBefore(run.ref.run_id, hash),
  };
}

const keyOf = ({ ref }: GateRun, seq: number): string => `${ref.run_id}.${seq}`;

/** Toolsets of our own that touch no file, or let other calls do so, which are looked at themselves. */
const fileless: ReadonlySet<string> = new Set<BuiltInProvider>([
  'echo',
  'print',
  'engine',
  'plan_manager',
  'plan_summary',
  'model_pull',
]);

const mayChangeFiles = ({ tools, read_only }: ToolSpec): boolean => !read_only && !fileless.has(tools);

/** Stored as the JSON that it is: a resumed run gives it again as a value (03 §11.5). */
const isValue = (value: unknown): boolean => typeof value === 'object' && value !== null;

export type Ledger = ReturnType<typeof createLedger>;
