import { toWire } from '../src/schema/errors.ts';
import type { Action } from './actions.ts';
import { shownIdOf } from './approvals/approvals-state.ts';
import { type ComposerEffects, createComposerEffects } from './composer/composer-effects.ts';
import type { HistoryFile } from './composer/history-file.ts';
import { createEffects, type EffectDeps, type Effects } from './effects.ts';
import { createGoverning } from './governing.ts';
import { createJudgedUnder, type JudgedUnder } from './judged-under.ts';
import type { TuiOptions } from './options.ts';
import { createPlanEffects, type PlanEffects } from './plan/plan-effects.ts';
import { createSlashEffects, type SlashDeps } from './slash-effects.ts';
import { restingRun, type State } from './state.ts';
import { type ClientLink, createClientLink, type LinkOptions } from './use-client.ts';

/** What the rooms share, whoever shows them. */
export type RoomsGround = {
  readonly options: TuiOptions;
  readonly state: () => State;
  readonly dispatch: (action: Action) => void;
  readonly say: (text: string, bad: boolean) => void;
};

/** What a face has of its own: a screen and lines do not draw the same, and not the same can be asked on them. */
export type Face = RoomsGround &
  Pick<EffectDeps, 'screen' | 'leave' | 'clipboard' | 'edit' | 'print' | 'printed'> &
  Pick<SlashDeps, 'setTheme' | 'setNotify' | 'keys'> &
  Pick<LinkOptions, 'settings' | 'key'> & {
    readonly inTmux: boolean;
    readonly history: HistoryFile;
    readonly mostHistory: () => number;
    /** Whether the operator may be offered a file, by its path in the workspace. */
    readonly readable: (path: string, under: () => Promise<JudgedUnder>) => Promise<boolean>;
    readonly themes: () => readonly string[];
    /** What is being written is in the composer, and comes back with its session. */
    readonly drafts: boolean;
    /** What is asked of the operator beside the transcript. */
    readonly questions: (rooms: AskedOf) => Questions;
  };

/** What the questions need of the rest; it is there once all is made. */
export type AskedOf = RoomsGround & {
  readonly link: Pick<ClientLink, 'goOn'>;
  readonly perform: Effects['perform'];
  readonly judgedUnder: () => Promise<JudgedUnder>;
};

export type Questions = Pick<EffectDeps, 'asks' | 'trust' | 'definitions'>;

export type Rooms = {
  readonly link: ClientLink;
  readonly effects: Effects;
  readonly composer: ComposerEffects;
  readonly trust: EffectDeps['trust'];
  readonly judgedUnder: () => Promise<JudgedUnder>;
  /** Ends what still listens. */
  close(): void;
};

/** Everything that happens behind a face, put together: what the reducer asks for is done here (10 §15). */
export function createRooms(face: Face): Rooms {
  const { options, state, dispatch, say } = face;
  const { client, now } = options;
  const governing = createGoverning(options);
  const { request } = governing;
  const judged = createJudgedUnder({ ...options, request });
  const chooseShell = (on: boolean): void => {
    governing.chooseShell(on);
    dispatch({ type: 'facts', facts: { shell: on } });
  };

  const link: ClientLink = createClientLink({
    client,
    request,
    now,
    session: () => state().session,
    busy: () => state().turn !== null,
    resting: () => restingRun(state()),
    elsewhere: () => {
      const { turn } = state();
      return turn === null || turn.elsewhere === null ? null : turn.run_id;
    },
    policy: governing.policy,
    model: options.model,
    root: options.root,
    key: face.key,
    settings(given) {
      if (given.get('shell') === 'true') chooseShell(true);
      face.settings(given);
    },
    dispatch,
    opened: (id) => composer.restore(id),
    planChanged: () => plans.changed(),
    definitions: () => questions.definitions.look(),
    goOnWithPlan: (plan) => plans.perform({ do: 'steps', plan, auto: false }),
  });
  const plans: PlanEffects = createPlanEffects({
    client,
    state,
    dispatch,
    now,
    options: governing.planOptions,
    shell: governing.shell,
    key: face.key,
    model: options.model,
  });
  const composer: ComposerEffects = createComposerEffects({
    client,
    dispatch: (action) => dispatch({ type: 'compose', action, now: now() }),
    session: () => state().session,
    history: face.history,
    mostHistory: face.mostHistory,
    drafts: face.drafts,
    root: judged.root,
    gitExcludes: options.gitExcludes,
    readable: (path) => face.readable(path, judged.under),
    calls: {
      client,
      request,
      home: options.home,
      watch: (runId, { tools }) => link.watch(runId, tools === 'local_shell'),
    },
    async image(path) {
      try {
        const call = { tools: 'local_fs', tool: 'read_file', args: { path } };
        const judgedBy = await judged.under();
        const told = await (await client()).explainCall({ call, ask: null, as_asked: false, cwd: null, ...judgedBy });
        // It is the operator's own message: what a model would be asked about, nobody else need allow.
        if (told.refused !== null || told.record.action === 'deny') return 'the policy denies it';
        await options.checkImage(path);
        return null;
      } catch (error) {
        // The mention names the file.
        return toWire(error).message.replace(`--image: ${path} `, 'it ');
      }
    },
    openAsks: () => state().approvals.asks.map(({ id }) => shownIdOf(state().approvals)(id)),
    themes: face.themes,
    attached: (message, read) => dispatch({ type: 'attached', message, read, now: now() }),
    say,
    now,
  });
  const questions = face.questions({
    options,
    state,
    dispatch,
    say,
    link,
    perform: (effect) => effects.perform(effect),
    judgedUnder: judged.under,
  });
  const slash = createSlashEffects({
    client,
    link,
    chooseShell,
    state,
    dispatch,
    say,
    setTheme: face.setTheme,
    keys: face.keys,
    setNotify: face.setNotify,
    writeFile: options.writeFile,
    checkImage: options.checkImage,
  });
  const effects: Effects = createEffects({
    ...questions,
    link,
    client,
    plans,
    slash,
    composer,
    screen: face.screen,
    state,
    dispatch,
    leave: face.leave,
    now,
    toTmux: face.inTmux ? options.toTmux : null,
    clipboard: face.clipboard,
    judgedUnder: judged.under,
    policy: governing.policy,
    choosePolicy: governing.choose,
    edit: face.edit,
    print: face.print,
    printed: face.printed,
  });
  return {
    link,
    effects,
    composer,
    trust: questions.trust,
    judgedUnder: judged.under,
    close() {
      link.close();
      plans.close();
    },
  };
}
