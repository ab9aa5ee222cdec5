import type { RuntimeClient } from '../../src/client/operations.ts';
import type { Ask } from '../../src/schema/ask.ts';
import { everyAsk } from '../../src/schema/ask.ts';
import { toWire } from '../../src/schema/errors.ts';
import type { RuleProposals } from '../../src/schema/policy-views.ts';
import { plural } from '../../src/view/format.ts';
import { type ApprovalsAction, type ApprovalsIntent, mostAnswered, mostHistory } from './approvals-state.ts';
import type { CardAnswer, CardIntent } from './card-state.ts';
import type { JudgedUnder } from '../judged-under.ts';
import { judgeEdit } from './judge-edit.ts';

export type AskEffectDeps = {
  readonly client: () => Promise<RuntimeClient>;
  readonly dispatch: (action: ApprovalsAction) => void;
  /** Goes on with a resting run whose ask was answered here. */
  readonly goOn: (ask: Ask) => Promise<void>;
  readonly explain: (id: string) => void;
  readonly editText: (ask: string, text: string) => void;
  readonly say: (text: string, bad: boolean) => void;
  readonly now: () => number;
  /** Directories and policy that the calls of this program are judged under. */
  readonly judgedUnder: () => Promise<JudgedUnder>;
};

type Intent = Exclude<ApprovalsIntent, { readonly do: 'keep-text' }>;

/** Carries out what the asks want, through the client; what comes of it is told by actions. */
export function createAskEffects(deps: AskEffectDeps): { perform(intent: Intent): void; close(): void } {
  const { client: clientOf, dispatch, now } = deps;
  const timers = new Set<NodeJS.Timeout>();

  const answer = async ({ id, binding, answer: given }: Extract<CardIntent, { do: 'answer' }>): Promise<void> => {
    const client = await clientOf();
    try {
      const { ask, yours, rests } = await client.answerAsk({ id, binding, ...verdictOf(given) });
      dispatch({ type: 'resolved', ask, mine: true, told: lasting(given) });
      if (yours && rests) await deps.goOn(ask);
    } catch (error) {
      await refused(client, id, error);
    }
  };

  /** The card says why; what is over shows who was first. */
  const refused = async (client: RuntimeClient, id: string, error: unknown): Promise<void> => {
    const { code, message } = toWire(error);
    const ask = await client.showAsk({ id }).catch(() => null);
    if (ask !== null && ask.state !== 'pending') {
      dispatch({ type: 'resolved', ask, mine: false, told: 'your answer was not recorded' });
      return;
    }
    const why = code === 'database_busy' ? 'not recorded, try again' : message;
    dispatch({ type: 'refused', id, why, ask: code === 'binding_changed' ? ask : null });
  };

  const judge = async ({ id, args, text }: Extract<CardIntent, { do: 'judge-edit' }>): Promise<void> => {
    const verdict = await judgeEdit(await clientOf(), id, args, await deps.judgedUnder());
    dispatch({ type: 'edit-judged', id, verdict, args, text });
  };

  const edit = async ({ id, binding, args }: Extract<CardIntent, { do: 'edit' }>): Promise<void> => {
    const client = await clientOf();
    try {
      const { ask, yours, rests } = await client.editAsk({ id, binding, args });
      dispatch({ type: 'resolved', ask, mine: true, told: 'the new call is judged' });
      if (yours && rests) await deps.goOn(ask);
    } catch (error) {
      await refused(client, id, error);
    }
  };

  const propose = async (id: string): Promise<void> => {
    const client = await clientOf();
    const proposals = await client.proposeRules({ id }).catch((error: unknown) => none(toWire(error).message));
    dispatch({ type: 'proposals', id, proposals });
  };

  const denyAll = async (asks: Extract<ApprovalsIntent, { do: 'deny-all' }>['asks']): Promise<void> => {
    const client = await clientOf();
    let denied = 0;
    let before = 0;
    for (const { id, binding } of asks) {
      try {
        const { ask, rests } = await client.answerAsk({
          id,
          binding,
          ...verdictOf({ outcome: 'deny', feedback: null }),
        });
        denied += 1;
        dispatch({ type: 'resolved', ask, mine: true, told: null });
        if (rests) await deps.goOn(ask);
      } catch (error) {
        if (toWire(error).code !== 'already_answered') deps.say(toWire(error).message, true);
        before += 1;
      }
    }
    deps.say(`${plural(denied, 'ask')} denied${before === 0 ? '' : `, ${before} not: answered already`}`, false);
  };

  const perform = (intent: Intent): void => {
    const failed = (error: unknown): void => deps.say(toWire(error).message, true);
    switch (intent.do) {
      case 'answer':
        void answer(intent).catch(failed);
        return;
      case 'judge-edit':
        void judge(intent).catch(failed);
        return;
      case 'edit':
        void edit(intent).catch(failed);
        return;
      case 'propose':
        void propose(intent.id).catch(failed);
        return;
      case 'explain':
        deps.explain(intent.id);
        return;
      case 'editor':
        deps.editText(intent.id, intent.text);
        return;
      case 'wake': {
        const timer = setTimeout(
          () => {
            timers.delete(timer);
            // Keys that came while the program was busy are read first: one of them may show that somebody is typing.
            setImmediate(() => dispatch({ type: 'tick' }));
          },
          Math.max(1, intent.at - now()),
        );
        timers.add(timer);
        return;
      }
      case 'look':
        void clientOf()
          .then((client) => client.showAsk({ id: intent.id }))
          .then((ask) => {
            if (ask.state !== 'pending') dispatch({ type: 'resolved', ask, mine: false, told: null });
          })
          .catch(failed);
        return;
      case 'load-history':
        void clientOf()
          .then((client) =>
            client.listAsks({ ...everyAsk, state: 'resolved', limit: intent.whole ? mostHistory : mostAnswered }),
          )
          .then(({ asks }) => dispatch({ type: 'history', asks, whole: intent.whole }))
          .catch(failed);
        return;
      case 'deny-all':
        void denyAll(intent.asks).catch(failed);
    }
  };
  return {
    perform,
    close() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

const none = (why: string): RuleProposals => ({
  path: '',
  copy: null,
  policy: { name: '', source: 'builtin', path: null, sha256: null, state: 'invalid' },
  looked_at: 0,
  candidates: [],
  none: why,
});

type Verdict = Omit<Parameters<RuntimeClient['answerAsk']>[0], 'id' | 'binding'>;

/** An answer of the card as the operation takes it. */
function verdictOf(given: CardAnswer): Verdict {
  const empty = { feedback: null, text: null, remember: null } as const;
  if (given.outcome === 'answer') return { ...empty, ...given };
  if (given.outcome === 'deny') return { ...empty, outcome: 'deny', feedback: given.feedback };
  if (given.remember === 'rule') return { ...empty, outcome: 'approve', remember: 'rule', rule: given.rule };
  return { ...empty, outcome: 'approve', remember: given.remember };
}

/** How what is remembered is forgotten (10 §7.5). */
const lasting = (given: CardAnswer): string | null =>
  given.outcome === 'approve' && (given.remember === 'session' || given.remember === 'edits')
    ? '/asks forget ends it'
    : null;
