import type { RuntimeClient } from '../src/client/operations.ts';
import { RuntimeError, toWire } from '../src/schema/errors.ts';
import type { Evaluation } from '../src/schema/policy.ts';
import type { PolicyExplanation } from '../src/schema/policy-views.ts';
import type { StartRun } from '../src/schema/run.ts';
import { formatClock } from '../src/view/format.ts';
import type { PlainLook } from '../src/view/plain-lines.ts';
import { runDataLines } from '../src/view/run-lines.ts';
import type { Action } from './actions.ts';
import { isComposerEmpty } from './composer/composer-state.ts';
import { copyText } from './clipboard.ts';
import { dumpLines } from './dump.ts';
import type { DefinitionEffects } from './definition-effects.ts';
import { rulesOf, whyOverlay } from './overlays/why-view.ts';
import { modelEffects } from './model-effects.ts';
import { question } from './overlays/question.ts';
import { reportOf } from './reports.ts';
import { sessionEffects } from './session-effects.ts';
import type { PlanEffects } from './plan/plan-effects.ts';
import { createQuitting, type Quitting } from './quitting.ts';
import type { TrustEffects } from './trust-effects.ts';
import type { Screen } from './screen.ts';
import { showsTime } from './showing-time.ts';
import { runsAtHand } from './runs-at-hand.ts';
import type { Effect } from './effect.ts';
import type { Doing, EffectGround } from './effect-ground.ts';
import type { State } from './state.ts';
import { actingName } from './stored-name.ts';
import type { ClientLink } from './use-client.ts';
import { wholeResult } from './whole-result.ts';

export type EffectDeps = {
  readonly link: ClientLink;
  readonly client: () => Promise<RuntimeClient>;
  readonly screen: Screen;
  readonly state: () => State;
  readonly dispatch: (action: Action) => void;
  readonly leave: (how: number | 'plain') => void;
  readonly now: () => number;
  /** Puts a text into the clipboard by tmux, where this runs in one: else null. */
  readonly toTmux: ((text: string) => Promise<boolean>) | null;
  readonly clipboard: () => 'osc52' | 'file';
  readonly asks: { perform(intent: Extract<Effect, { do: 'ask' }>['intent']): void };
  readonly trust: TrustEffects;
  readonly definitions: DefinitionEffects;
  readonly slash: {
    perform(intent: Extract<Effect, { do: 'slash' }>['intent'], failed: (message: string) => void): void;
  };
  readonly plans: Pick<PlanEffects, 'perform' | 'runs' | 'tick'>;
  readonly composer: { perform(intent: Extract<Effect, { do: 'composer' }>['intent']): void };
  /** The policy of the turns, what is trusted for once, and the directory of `--local-exec-allowed-dir`. */
  readonly judgedUnder: () => Promise<Pick<StartRun, 'policy' | 'trust' | 'allowed_dir'>>;
  /** What the next turns are judged under, in this program; null = the one that is configured. */
  readonly policy: () => string | null;
  readonly choosePolicy: (policy: string) => void;
  /** Lends the terminal to the editor of the operator. */
  readonly edit: (text: string, ask: string | null) => void;
  /** Prints lines on the main screen and waits for Enter. */
  readonly print: (lines: readonly string[]) => Promise<void>;
  /** How lines look that are printed. */
  readonly printed: () => PlainLook;
};

export type Effects = {
  perform(effect: Effect): void;
  /** A second has passed: drawn only where something shows a time. */
  tick(): void;
  /** Cancels what runs here. */
  cancelAll(): Promise<void>;
  /** Runs that this program has begun or gone on with, and that have not ended. */
  ownRuns: Quitting['ownRuns'];
};

/** Seconds between two looks whether the session is still there: nothing tells of it (10 §9). */
const looksEvery = 5;

/** Does what the reducer asked for; what comes of it is told by actions. */
export function createEffects(deps: EffectDeps): Effects {
  const { link, screen, now, dispatch, state, client: clientOf } = deps;
  const say = (text: string, bad = false): void => dispatch({ type: 'say', text, bad, now: now() });
  let seconds = 0;
  /** The line that is being carried out. */
  let typed: string | null = null;
  const failed = (): ((message: string) => void) => {
    const line = typed;
    return (message) => {
      // What is being written meanwhile is not mixed with it.
      if (line === null || !isComposerEmpty(state().composer)) return say(message, true);
      dispatch({ type: 'compose', action: { type: 'return', text: line, problems: [message] }, now: now() });
    };
  };
  const attempt = (work: (client: RuntimeClient) => Promise<unknown>): void => {
    const tell = failed();
    clientOf()
      .then(work)
      .catch((error: unknown) => tell(toWire(error).message));
  };
  const showRuns = async (client: RuntimeClient): Promise<void> => {
    const runs = await runsAtHand(client, 100);
    const open = state().overlays.find((overlay) => overlay.kind === 'runs');
    if (open?.kind === 'runs') dispatch({ type: 'overlay', overlay: { ...open, rows: runs } });
  };

  /** Of the session that is open; of any while none is. */
  const newestRunId = async (client: RuntimeClient): Promise<string | undefined> => {
    const open = state().session;
    const session = open === null ? null : await actingName(client, open, names);
    return (await client.listRuns({ status: null, session, limit: 1 })).runs[0]?.id;
  };

  const showGrants = async (client: RuntimeClient): Promise<void> => {
    const { session, overlays } = state();
    const rows = session === null ? [] : await client.listRemembered({ session: session.id });
    const open = overlays.find((overlay) => overlay.kind === 'grants');
    if (open?.kind === 'grants') dispatch({ type: 'overlay', overlay: { ...open, rows } });
  };

  /** @param about the ask that it is about, and what the policy says of it by now */
  const explained = async (
    client: RuntimeClient,
    title: string,
    explanation: PolicyExplanation,
    about: { readonly now: Evaluation | null; readonly ask: string } | null = null,
  ): Promise<void> => {
    const { name, path, sha256 } = explanation.record.policy;
    // Rules are told by their numbers; their text is that of the document, while it is still the same.
    const used = await client.showPolicy({ policy: path ?? name }).catch(() => null);
    const rules = used === null || used.sha256 !== sha256 ? null : rulesOf(used.text);
    dispatch({ type: 'overlay', overlay: whyOverlay(title, explanation, rules, about) });
  };

  const quitting = createQuitting({
    client: clientOf,
    link,
    plans: deps.plans,
    state,
    dispatch,
    say,
    leave: deps.leave,
  });

  const names = { session: () => state().session, dispatch };
  const ground: EffectGround = { attempt, say, dispatch, state, link };
  const doing: Doing = {
    ...sessionEffects(ground),
    ...modelEffects(ground),
    send: (message) => attempt(() => link.send(message)),
    'not-sent': ({ written, why }) => dispatch({ type: 'not-sent', written, why: [why], now: now() }),
    ask: ({ intent }) => deps.asks.perform(intent),
    'focus-ask': ({ id }) => dispatch({ type: 'approve', action: { type: 'focus', id }, now: now() }),
    plan: ({ intent }) => deps.plans.perform(intent),
    composer: ({ intent }) => deps.composer.perform(intent),
    'edit-text': ({ text, ask }) => deps.edit(text, ask),
    interrupt: ({ run_id }) => attempt((client) => client.cancelRun({ run_id, reason: 'operator' })),
    'cancel-run': ({ run_id }) =>
      attempt(async (client) => {
        await client.cancelRun({ run_id, reason: 'operator' });
        await client.awaitRun({ run_id });
        await showRuns(client);
      }),
    'resume-run': ({ run_id }) => attempt(() => link.resume(run_id)),
    abandon: ({ run_id }) =>
      attempt(async (client) => {
        if (run_id !== undefined) {
          await client.cancelRun({ run_id, reason: 'operator' });
          return say('the resting run was cancelled');
        }
        const { session } = state();
        if (session === null) return;
        const name = await actingName(client, session, names);
        const { suspended_run_id: resting } = (await client.showSession({ name, tools: false, tail: 1 })).session;
        if (resting === null) return say('no run of this session rests');
        const effects = [{ do: 'abandon', run_id: resting }] as const;
        const lines = [`The turn of session ${name} that rests is cancelled, with what it has asked.`];
        dispatch({ type: 'overlay', overlay: question('Give the turn up', lines, { words: 'cancel it', effects }) });
      }),
    'load-page': ({ wish }) => attempt(() => link.loadPage(wish)),
    find: ({ query, before }) => attempt(() => link.find(query, before)),
    'end-find': () => link.endFind(),
    'load-run': ({ run_id }) =>
      attempt(async (client) => {
        try {
          const wanted = run_id ?? (await newestRunId(client));
          if (wanted === undefined) throw new RuntimeError('not_found', 'no run is recorded yet');
          dispatch({ type: 'overlay', overlay: { kind: 'run', run: await client.showRun({ run_id: wanted }), at: 0 } });
        } catch (error) {
          // The box that waits for it has nothing to show.
          dispatch({ type: 'no-overlays' });
          throw error;
        }
      }),
    'load-run-data': ({ run_id }) =>
      attempt(async (client) => {
        const run = await client.showRun({ run_id, full: true });
        const [short = run_id] = await client.shortIds({ ids: [run_id] });
        const lines = runDataLines(run, { id: (id) => (id === run_id ? short : id), when: formatClock });
        dispatch({ type: 'overlay', overlay: { kind: 'view', title: `${short} · inputs and outputs`, lines, at: 0 } });
      }),
    'load-bounds': ({ run_id }) =>
      attempt(async (client) => dispatch({ type: 'bounds', run: await client.showRun({ run_id }) })),
    'load-runs': () => attempt(showRuns),
    'load-grants': () => attempt(showGrants),
    'explain-ask': ({ ask_id }) =>
      attempt(async (client) => {
        const asked = { call: null, ask: ask_id, cwd: null } as const;
        const explanation = await client.explainCall({
          ...asked,
          as_asked: true,
          policy: null,
          trust: [],
          allowed_dir: null,
        });
        const under = await deps.judgedUnder();
        // A policy that cannot be read by now is said in the banner.
        const current = await client.explainCall({ ...asked, ...under, as_asked: false }).catch(() => null);
        await explained(client, 'Why is it asking?', explanation, { now: current?.record ?? null, ask: ask_id });
      }),
    'explain-call': ({ call }) =>
      attempt(async (client) => {
        const under = await deps.judgedUnder();
        const explanation = await client.explainCall({ call, ask: null, as_asked: false, cwd: null, ...under });
        await explained(client, 'What the policy says', explanation);
      }),
    'review-trust': () => attempt(() => deps.trust.review(true)),
    trust: (answer) => attempt(() => deps.trust.answer(answer)),
    'look-definitions': () => attempt(() => deps.definitions.look()),
    definition: (answer) => attempt(() => deps.definitions.answer(answer)),
    slash: ({ intent }) => deps.slash.perform(intent, failed()),
    typed: ({ effect, text }) => {
      typed = text;
      try {
        perform(effect);
      } finally {
        typed = null;
      }
    },
    report: ({ what, of }) =>
      attempt(async (client) => {
        dispatch({
          type: 'overlay',
          overlay: {
            kind: 'explain',
            at: 0,
            ...(await reportOf(
              { what, of: of ?? null, policy: deps.policy(), turn: link.turn },
              client,
              state(),
              now(),
            )),
          },
        });
      }),
    'use-policy': ({ name }) =>
      attempt(async (client) => {
        const { state: stands, name: policy } = await client.showPolicy({ policy: name });
        if (stands !== 'ok')
          throw new RuntimeError('usage', `policy ${policy} is ${stands}: the one in use stays`, {
            hints: [`reins policy vet ${name}`],
          });
        deps.choosePolicy(name);
        await link.lookAtPolicy();
        say(`policy ${policy} judges from the next turn on, in this program`);
      }),
    forget: ({ id }) =>
      attempt(async (client) => {
        const { session } = state();
        if (session === null) return;
        const { removed } = await client.forgetRemembered({ session: session.id, id: id ?? null });
        await showGrants(client);
        await link.lookAtEdits();
        say(`forgot ${removed} remembered ${removed === 1 ? 'choice' : 'choices'}`);
      }),
    'view-result': ({ item, part, end }) =>
      attempt(async (client) => {
        const overlay = await wholeResult(client, item, part);
        dispatch({ type: 'overlay', overlay: end ? { ...overlay, at: Number.MAX_SAFE_INTEGER } : overlay });
      }),
    copy: ({ text }) =>
      attempt(async () => {
        const { bytes, said } = copyText(text, deps.clipboard(), deps.toTmux !== null, now());
        if (bytes === null) return say(said);
        const taken = deps.toTmux === null || (await deps.toTmux(text));
        if (deps.toTmux === null || !taken) screen.signal(bytes);
        say(taken ? said : `${said}, if tmux passes it on: allow-passthrough`);
      }),
    dump: ({ turns }) =>
      attempt(async () => {
        const { lines, left } = await dumpLines(clientOf, state(), turns, deps.printed());
        await deps.print(left > 0 ? [`note: ${left} earlier lines are left out`, ...lines] : lines);
      }),
    'plan-letter': ({ at }) => {
      // Keys that came while the program was busy are read first: one of them may show that somebody is typing.
      // A timer may be early by a part of a millisecond, and there is no second one.
      const alone = () => setImmediate(() => dispatch({ type: 'plan-letter', now: Math.max(now(), at) }));
      setTimeout(alone, Math.max(1, at - now())).unref();
    },
    repaint: () => {
      screen.forget();
      dispatch({ type: 'resize', size: screen.size(), now: now() });
    },
    suspend: () => {
      screen.leave();
      process.kill(process.pid, 'SIGTSTP');
    },
    abort: () => deps.leave(131),
    plain: () => deps.leave('plain'),
    leave: (how) => attempt(() => quitting.end(how)),
    // Whatever cannot be asked of the runs, the program can be left.
    quit: () => void quitting.quit().catch(() => deps.leave(0)),
  };

  function perform(effect: Effect): void {
    // The table has a function for exactly this kind of effect.
    (doing[effect.do] as (effect: Effect) => void)(effect);
  }

  return {
    perform,
    tick() {
      deps.plans.tick();
      seconds += 1;
      if (seconds % looksEvery === 0) {
        void link.lookAtSession();
        // Nobody tells of a policy that was mended by hand; until it is read again, the screen calls it invalid.
        if (state().facts.policy?.invalid === true) void link.lookAtPolicy();
      }
      if (showsTime(state(), now(), seconds)) dispatch({ type: 'tick', now: now() });
    },
    cancelAll: () => quitting.cancelAll('SIGINT'),
    ownRuns: quitting.ownRuns,
  };
}
