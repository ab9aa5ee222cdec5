import type { RuntimeClient } from '../src/client/operations.ts';
import { everyAsk } from '../src/schema/ask.ts';
import { toWire } from '../src/schema/errors.ts';
import type { Ask } from '../src/schema/ask.ts';
import type { StartRun } from '../src/schema/run.ts';
import { idsOf } from '../src/view/ask-card.ts';
import { lookAgain, lookAround, lookAtPolicy, lookForServer, type OpeningDeps, readSettings } from './opening.ts';
import type { Effect } from './effect.ts';
import { createLookElsewhere } from './look-elsewhere.ts';
import { lookAtEdits } from './passing-edits.ts';
import { createNumbering } from './numbering.ts';
import { type Chosen, createSender } from './send-message.ts';
import { createSummaries, type Summaries } from './summaries.ts';
import { createSessionView, type SessionGround } from './session-view.ts';
import { createFinder, pageOf } from './stored-pages.ts';
import type { PageWish } from './transcript/pages.ts';

type Message = Extract<Effect, { readonly do: 'send' }>;

export type ClientLink = {
  /** Opens what the screen shows: session, asks, policy. @throws what makes the program leave the screen */
  open(session: string | null): Promise<void>;
  openSession(name: string | null): Promise<void>;
  /** Says when the session that is open was deleted or renamed by another process. Never rejects. */
  lookAtSession(): Promise<void>;
  /** Says whether edits of files here pass unasked. Never rejects. */
  lookAtEdits(): Promise<void>;
  /** Reads the policy again, for the status line and the banner. Never rejects. */
  lookAtPolicy(): Promise<void>;
  send(message: Message): Promise<void>;
  /** Resolves when no message is on its way any more. Never rejects. */
  sent(): Promise<void>;
  /** Runs that this program drives, or has driven. */
  started(): ReadonlySet<string>;
  /** Reads stored messages of the session that is open. */
  loadPage(wish: PageWish): Promise<void>;
  /** Looks for a text in what is stored before a message, the newest pages first; ends a search before it. */
  find(query: string, before: number): Promise<void>;
  /** Nothing is looked for any more. */
  endFind(): void;
  /** Goes on with a run that rests, and follows it. */
  resume(runId: string): Promise<void>;
  /** Shows a run that was started beside the session, to its end. @param line it is a `!` line of the operator */
  watch(runId: string, line: boolean): Promise<void>;
  /** Goes on with the resting run of an ask that was answered here. */
  goOn(ask: Ask): Promise<void>;
  /** The model of the turns that follow, in this program. @param backend its name; empty = whichever serves the model */
  useModel(model: string, backend: string): Promise<void>;
  /** For the turns that follow, in this program. */
  choose(over: Pick<Chosen, 'think' | 'chain_path' | 'chain_name' | 'trim'>): void;
  /** What the next turn would be asked for, but for its text. */
  turn(client: RuntimeClient): Promise<Omit<StartRun, 'input'>>;
  compact: Summaries['compact'];
  forkWithSummary: Summaries['fork'];
  /** Shows a run in view to its end. @returns its status */
  endOf(runId: string): Promise<string>;
  close(): void;
};

export type LinkOptions = SessionGround & {
  /** Root of the workspace. */
  readonly root: () => Promise<string>;
  /** A plan has changed, here or in another process. */
  readonly planChanged: () => void;
  /** Says what tools have changed. */
  readonly definitions: () => Promise<void>;
  /** The run of a step rests, and its ask was answered here. */
  readonly goOnWithPlan: (plan: string) => void;
  readonly policy: () => string | null;
  readonly model: string | null;
  readonly key: OpeningDeps['key'];
  /** Told what is configured of the screen. */
  readonly settings: (settings: ReadonlyMap<string, string>) => void;
  /** The request of a turn, but for its text. */
  readonly request: (client: RuntimeClient) => Promise<Omit<StartRun, 'input'>>;
};

/** Open asks that are held, which is as many as a list has anywhere: they are counted, and each can be answered. */
const mostAsks = 1000;

/** A page that takes longer says so in its place (10 §5.2). */
const slowMs = 50;

/** The one effect: calls the client, follows runs and the feed, and tells the state what came (10 §15). */
export function createClientLink(options: LinkOptions): ClientLink {
  const { client: clientOf, dispatch, now, request } = options;
  const ending = new AbortController();
  const started = new Set<string>();
  /** The policy of the last turn: another one has other things to say in the status line. */
  let judgedBy = '';
  let following: AbortController | null = null;
  /** The run that is being followed. */
  let followed: string | null = null;
  let sending: Promise<void> = Promise.resolve();
  const numbering = createNumbering({ session: options.session, dispatch });
  const finder = createFinder((query, hits) => dispatch({ type: 'found', query, hits }));
  let chosen: Chosen = {};

  const follow = async (client: RuntimeClient, runId: string, after: number): Promise<void> => {
    following?.abort();
    const own = new AbortController();
    following = own;
    followed = runId;
    const signal = AbortSignal.any([own.signal, ending.signal]);
    for await (const events of client.watch({ run_id: runId, after, signal })) {
      // What was on its way while another session was opened belongs to the one before.
      if (signal.aborted) break;
      dispatch({ type: 'events', run_id: runId, events, now: now() });
    }
    if (ending.signal.aborted) return;
    if (following === own) followed = null;
    await numbering.read(client);
    await view.rested();
  };

  const policyNow = (client: RuntimeClient): Promise<boolean> =>
    lookAtPolicy({ client, dispatch, policy: options.policy() });

  const editsNow = (client: RuntimeClient): Promise<void> =>
    lookAtEdits(client, { dispatch, root: options.root, session: () => options.session()?.id ?? null });

  const watchFeed = async (client: RuntimeClient, after: number): Promise<void> => {
    for await (const entries of client.watchFeed({ after, signal: ending.signal })) {
      const asks = entries.some(({ kind }) => kind === 'ask' || kind === 'verdict' || kind === 'ask_updated');
      // The mark of a step says that its run waits.
      if (asks || entries.some(({ kind }) => kind === 'plan_changed')) options.planChanged();
      if (entries.some(({ kind }) => kind === 'setup_changed' || kind === 'document_changed'))
        void lookAgain(around(client));
      await view.happened(entries).catch(failed);
      await elsewhere(client, entries).catch(failed);
      if (!asks) continue;
      // An answer may have come with a rule, or late for a policy that was edited: another one governs from then on.
      if (entries.some(({ kind }) => kind === 'verdict' || kind === 'ask_updated'))
        await policyNow(client).then(() => editsNow(client), failed);
      // What cannot be read now is read with the next entry.
      await readAsks().catch(failed);
      // Who else can answer is said on the card.
      await lookForServer({ client, dispatch }).catch(failed);
    }
  };

  const around = (client: RuntimeClient): OpeningDeps => {
    const { model, key, definitions } = options;
    const policy = options.policy();
    const session = (): string | null => options.session()?.name ?? null;
    return { client, dispatch, policy, model, key, session, definitions };
  };

  const readAsks = async (): Promise<void> => {
    const client = await clientOf();
    const { asks } = await client.listAsks({ ...everyAsk, state: 'pending', limit: mostAsks });
    const whole = [...new Set(asks.flatMap(idsOf))];
    const shorts = await client.shortIds({ ids: whole });
    const ids = Object.fromEntries(whole.map((id, index) => [id, shorts[index] ?? id]));
    dispatch({ type: 'asks', asks, ids, now: now() });
  };

  const failed = (error: unknown): void => {
    if (!ending.signal.aborted) dispatch({ type: 'notice', level: 'error', text: toWire(error).message });
  };

  const watch = async (runId: string, line = false): Promise<void> => {
    const client = await clientOf();
    started.add(runId);
    dispatch({ type: 'following', run_id: runId, line, elsewhere: false, now: now() });
    await follow(client, runId, 0);
  };
  const endOf = async (runId: string): Promise<string> => {
    await watch(runId);
    return (await (await clientOf()).awaitRun({ run_id: runId })).status;
  };
  const isOwn = (runId: string): boolean => started.has(runId);
  const elsewhere = createLookElsewhere({ dispatch, session: () => options.session()?.id ?? null, isOwn });
  const view = createSessionView({
    ...options,
    left: () => {
      following?.abort();
      followed = null;
    },
    read: numbering.begin,
    edits: editsNow,
    isOwn,
    follow: (client, runId) => void follow(client, runId, 0).catch(failed),
  });
  const turn: ClientLink['turn'] = async (client) => {
    const { trim: _trim, ...over } = chosen;
    return { ...(await request(client)), ...over };
  };
  const summaries = createSummaries({ client: clientOf, turn, endOf });
  const sendNow = createSender({
    client: clientOf,
    request,
    dispatch,
    now,
    session: options.session,
    chosen: () => chosen,
    key: options.key,
    signal: ending.signal,
    started: (runId) => started.add(runId),
    busy: (session) => view.wait(session),
    accepted(client, run) {
      // A turn that was accepted has what the banner missed.
      dispatch({ type: 'no-banner', id: 'setup' });
      const judged = `${run.policy.state} ${run.policy.sha256}`;
      if (judged !== judgedBy) void policyNow(client).catch(failed);
      judgedBy = judged;
      void lookForServer({ client, dispatch }).catch(failed);
      // It may be in view by now, where the session was read while it began.
      if (followed !== run.run_id) void follow(client, run.run_id, 0).catch(failed);
    },
  });

  return {
    openSession: view.open,
    lookAtSession: () =>
      view
        .look()
        .then(clientOf)
        .then(editsNow)
        .catch(() => undefined),
    lookAtEdits: () => clientOf().then(editsNow, () => undefined),
    async lookAtPolicy() {
      try {
        const client = await clientOf();
        // What a broken one kept from being ready may be ready now.
        if (await policyNow(client)) await lookAgain(around(client));
      } catch {
        // It is looked at again soon.
      }
    },
    async open(name) {
      const client = await clientOf();
      // Before anything else is read: what happens meanwhile is told by the feed, not by nobody.
      const { newest } = await client.feedRange({});
      try {
        await view.open(name);
      } catch (error) {
        // A first start has no session yet: the first message makes it.
        if (name !== null || toWire(error).code !== 'not_found') throw error;
        dispatch({ type: 'opened', session: null, items: [], resting: null });
      }
      await readAsks();
      dispatch({ type: 'ready', now: now() });
      options.planChanged();
      void watchFeed(client, newest).catch(failed);
      options.settings(await readSettings(client));
      void lookAround(around(client));
    },
    sent: () => sending.catch(() => undefined),
    started: () => started,
    send(message) {
      sending = sendNow(message).then(view.rested);
      return sending;
    },
    async resume(runId) {
      const client = await clientOf();
      const { timeout_ms } = await request(client);
      // The feed may tell of it before the reply has come.
      started.add(runId);
      const run = await client.resumeRun({ run_id: runId, accept_changed_chain: false, on_ask: 'ask', timeout_ms });
      started.add(run.run_id);
      dispatch({ type: 'following', run_id: run.run_id, line: false, elsewhere: false, now: now() });
      // One that was followed while another process drove it is followed on: its events would come twice.
      if (followed !== run.run_id) void follow(client, run.run_id, run.resumed?.from_seq ?? 0).catch(failed);
    },
    watch,
    async goOn(ask) {
      if (ask.run_id === null) return;
      if (ask.plan_name !== null) return options.goOnWithPlan(ask.plan_name);
      // A run of another session goes on here too, but this view is not its.
      if (ask.session_id === options.session()?.id) return this.resume(ask.run_id);
      const client = await clientOf();
      const { timeout_ms } = await request(client);
      await client.resumeRun({ run_id: ask.run_id, accept_changed_chain: false, on_ask: 'ask', timeout_ms });
      started.add(ask.run_id);
    },
    async useModel(model, backend) {
      const client = await clientOf();
      const type = backend === '' ? null : (await client.showBackend({ name: backend })).type;
      chosen = { ...chosen, model, ...(type === null ? {} : { provider: type }) };
    },
    choose(over) {
      // A chain is named or lies somewhere: what was chosen before is neither.
      const { chain_name: _named, ...before } = chosen;
      chosen = { ...(over.chain_path === undefined ? chosen : before), ...over };
    },
    turn,
    compact: (session, keep) => summaries.compact(session, keep),
    forkWithSummary: (session, fork) => summaries.fork(session, fork),
    endOf,
    async loadPage(wish) {
      const session = options.session();
      if (session === null) return;
      const slow = setTimeout(() => dispatch({ type: 'slow-page', toward: wish.toward }), slowMs);
      try {
        const page = await pageOf(await clientOf(), session.id, wish);
        dispatch({ type: 'page', session: session.id, wish, page });
      } catch (error) {
        dispatch({ type: 'no-page' });
        throw error;
      } finally {
        clearTimeout(slow);
      }
    },
    async find(query, before) {
      const session = options.session();
      if (session !== null) await finder.find(await clientOf(), session.id, query, before);
    },
    endFind: () => finder.end(),
    close() {
      finder.end();
      ending.abort();
    },
  };
}
