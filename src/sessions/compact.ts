import { cutBefore } from '../chain/history.ts';
import { frameSummary } from '../chain/summary-frame.ts';
import type { ResumedTurn } from '../runs/resume.ts';
import type { RunService } from '../runs/runs.ts';
import type { SessionTurn } from '../runs/live-run.ts';
import type { TurnStart } from '../runs/write-start.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { Message } from '../schema/message.ts';
import type { RunStarted, StartRun } from '../schema/run.ts';
import type { CompactionStarted, SummaryForkStarted } from '../schema/session.ts';
import { maxMessages } from '../store/messages.ts';
import type { Runs, StoredRun } from '../store/runs.ts';
import type { SessionCopies } from '../store/session-copies.ts';
import type { SessionSummaries, Stretch, SummedRow } from '../store/session-summaries.ts';
import type { SessionRow, Sessions } from '../store/sessions.ts';
import { nameTaken } from '../store/sessions.ts';
import { ulid } from '../text/ids.ts';
import { borderOf } from './fork.ts';
import type { FreeSession } from './free-session.ts';
import { checkedName, copyName } from './names.ts';
import { summaryRequest } from './summary-request.ts';

export type CompactDeps = {
  readonly sessions: Sessions;
  readonly copies: SessionCopies;
  readonly summaries: SessionSummaries;
  readonly runs: Pick<Runs, 'openOfSession'>;
  readonly free: FreeSession;
  /** Starts a run of the chain that sums up. */
  readonly startRun: (input: StartRun, turn: TurnStart) => ReturnType<RunService['startTurn']>;
  /** Config `compact-model`; null or empty when it is not set. */
  readonly model: () => string | null;
  readonly find: (name: string | null) => SessionRow;
  readonly now: () => number;
};

/** How many more messages than are kept a session must have (07 §2.9). */
const leastReplaced = 4;

/** What a run of kind `compact` is to do, as its row has it. */
type Task = Stretch & {
  readonly type: 'chat_history';
  /** The copy that the summary begins; null = it is added to the session itself. */
  readonly fork: { readonly id: string; readonly name: string | null; readonly border: number } | null;
};

/** Summaries in the place of older messages (07 §2.8, §2.9): one model call each, and nothing is written before it. */
export function createCompaction(deps: CompactDeps) {
  const { sessions, summaries, free, now } = deps;

  const newMessage = (content: string): Message => {
    const at = now();
    return { id: ulid(at), role: 'user', content, timestamp: new Date(at).toISOString() };
  };
  const history = (task: Task): string => {
    const former = task.summary === null ? undefined : summaries.summary(task.sessionId, task.summary);
    const told = summaries.messages(task).map(messageOf);
    return JSON.stringify(summaryRequest(former === undefined ? null : messageOf(former), told, newMessage));
  };
  const turnOf = (name: string, task: Task, runId: string): SessionTurn => ({
    session_name: name,
    // What is said on the way is the run's own.
    message: () => {},
    closeCalls: () => {},
    partial: () => {},
    note: () => {},
    output({ status, text }, at) {
      // The last word that a spent bound grants is no summary.
      if (status !== 'completed') return;
      const message: Message = { ...newMessage(frameSummary(text)), timestamp: new Date(at).toISOString() };
      const payload = JSON.stringify(message);
      const summary = { id: `${runId}-summary`, payload, run_id: runId };
      if (task.fork === null) addSummary(task, summary, at);
      else addFork(task, task.fork, summary, at);
    },
  });

  type Summary = { readonly id: string; readonly payload: string; readonly run_id: string };

  const addSummary = (task: Task, summary: Summary, at: number): void => {
    sessions.appendMessage(task.sessionId, {
      ...summary,
      role: 'user',
      kind: 'summary',
      covers_to: task.to,
      status: 'complete',
      error: null,
      tokens_in: null,
      tokens_out: null,
      created_at: at,
    });
  };

  const addFork = (task: Task, { id, name, border }: NonNullable<Task['fork']>, summary: Summary, at: number): void => {
    const source = sessions.byId(task.sessionId);
    // Deleted meanwhile: there is nothing to copy, and who asked is told that there is no copy.
    if (source === undefined) return;
    const taken = name !== null && sessions.byName(name) !== undefined;
    const { workspace } = source;
    sessions.insert({
      id,
      // A name that was taken meanwhile gets a number: the summary has been paid for.
      name: name === null || taken ? copyName(sessions, name ?? source.name) : name,
      workspace,
      created_at: at,
      forked_from: source.id,
    });
    summaries.insertFirst(id, summary, at);
    deps.copies.copyMessages(source.id, id, border, task.to);
    sessions.setActive(id, at);
  };

  /**
   * What is summed up of a session up to `border`, so that at least `keep` messages stay and no call is parted from its
   * results. @throws RuntimeError conflict with the count
   */
  const plan = (session: SessionRow, border: number, keep: number, least: number) => {
    const summary = summaries.newest(session.id, border)?.seq ?? null;
    const rows = summaries.messages({ sessionId: session.id, summary, to: border });
    if (rows.length < keep + least) throw tooFew(session, rows.length, keep + least, keep);
    const cut = cutBefore(rows.map(messageOf), keep);
    const last = rows[cut - 1];
    if (last === undefined) throw oneUnit(session, rows.length);
    return { summary, to: last.seq, replaced: cut };
  };

  const request = (input: StartRun): StartRun => ({
    ...input,
    input: { type: 'string', value: '' },
    chain_path: null,
    model: input.model ?? (deps.model() || null),
    variables: {},
    images: [],
  });
  const checkKeep = (keep: number): void => {
    if (Number.isSafeInteger(keep) && keep >= 1) return;
    throw new RuntimeError('usage', 'The number of messages to keep must be a whole number from 1.');
  };

  return {
    /**
     * Replaces the older messages of a session by a summary (07 §2.9), the former summary included; the run makes it, and
     * if it fails nothing has changed.
     * @throws RuntimeError not_found, conflict (too few messages), session_busy, run_suspended, and as a run that cannot start
     */
    async compactSession(
      input: StartRun & {
        readonly name: string | null;
        readonly keep: number;
        /** How long a turn that goes on is waited for; 10 s unless given (07 §2.6). */
        readonly wait_ms?: number;
      },
    ): Promise<CompactionStarted> {
      const { name, keep, wait_ms: waitMs, ...run } = input;
      checkKeep(keep);
      const session = deps.find(name);
      if (session.message_count >= maxMessages) throw isFull(session);
      const compact = async (): Promise<CompactionStarted> => {
        const end = deps.copies.lastSeq(session.id);
        const { summary, to, replaced } = plan(session, end, keep, leastReplaced);
        const task: Task = { type: 'chat_history', sessionId: session.id, summary, to, fork: null };
        const started = await deps.startRun(request(run), {
          kind: 'compact',
          session: { id: session.id, name: session.name },
          input: task,
          trim: 0,
          begin(runId) {
            free.check(session, runId);
            // A turn that came and went meanwhile: everything is counted again.
            if (deps.copies.lastSeq(session.id) !== end)
              throw new RuntimeError('session_busy', `session "${session.name}" is busy`);
            return turnOf(session.name, task, runId);
          },
          history: () => history(task),
        });
        return { ...started, compacted: { session: session.name, messages: replaced, covers_to: to } };
      };
      return free.take(session, false, compact, waitMs);
    },

    /**
     * Makes a copy of a session that begins with a summary in the place of all but the last `keep` messages (07 §2.8).
     * The copy is made with the end of the run; if that fails, there is none.
     * @throws RuntimeError usage, already_exists, not_found, conflict, storage, and as a run that cannot start
     */
    async forkWithSummary(
      input: StartRun & {
        readonly name: string | null;
        readonly new_name: string | null;
        readonly at: number | null;
        readonly keep: number;
      },
    ): Promise<SummaryForkStarted> {
      const { name, new_name, at, keep, ...run } = input;
      checkKeep(keep);
      const wanted = new_name === null ? null : checkedName(new_name);
      const source = deps.find(name);
      if (wanted !== null && sessions.byName(wanted) !== undefined) throw nameTaken(wanted);
      sessions.checkRoom();
      const { border, moved_back } = borderOf(deps, source, at);
      const { summary, to, replaced } = plan(source, border, keep, 1);
      const id = ulid(now());
      const task: Task = {
        type: 'chat_history',
        sessionId: source.id,
        summary,
        to,
        fork: { id, name: wanted, border },
      };
      const started: RunStarted = await deps.startRun(request(run), {
        kind: 'compact',
        session: null,
        input: task,
        trim: 0,
        begin: (runId) => turnOf(source.name, task, runId),
        history: () => history(task),
      });
      return { ...started, fork: { session_id: id, from: source.name, summarised: replaced, moved_back } };
    },

    /** The session's side of such a run that goes on; null when the session, or the summary before, is gone. */
    resumed(run: StoredRun): ResumedTurn | null {
      // Our own row of kind `compact`.
      const task = run.input as Task;
      const session = sessions.byId(task.sessionId);
      if (session === undefined) return null;
      if (task.summary !== null && summaries.summary(session.id, task.summary) === undefined) return null;
      return {
        session: task.fork === null ? { id: session.id, name: session.name } : null,
        turn: turnOf(session.name, task, run.id),
        history: () => history(task),
        takeBack: () => {},
      };
    },
  };
}

export type Compaction = ReturnType<typeof createCompaction>;

/** Rows that hold no message are left out by the query. */
const messageOf = ({ payload }: SummedRow): Message => JSON.parse(payload) as Message;

const tooFew = (session: SessionRow, count: number, least: number, keep: number): RuntimeError =>
  new RuntimeError(
    'conflict',
    `The session "${session.name}" has ${messagesOf(count)} that no summary covers; to keep ${keep} it takes ${least}.`,
    { data: { messages: count, least }, hints: [`reins session show ${session.name}`] },
  );

const oneUnit = (session: SessionRow, count: number): RuntimeError =>
  new RuntimeError(
    'conflict',
    `The ${count} messages of the session "${session.name}" are calls and results that belong together; nothing can be cut off.`,
    { data: { messages: count } },
  );

const messagesOf = (count: number): string => `${count} message${count === 1 ? '' : 's'}`;

const isFull = (session: SessionRow): RuntimeError =>
  new RuntimeError('storage', `The session "${session.name}" holds ${maxMessages} messages, which is the most.`, {
    hints: [`reins session fork --from ${session.name} --summary`],
  });
