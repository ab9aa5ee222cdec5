import { createAskEffects } from './approvals/ask-effects.ts';
import { createDefinitionEffects } from './definition-effects.ts';
import type { AskedOf, Questions } from './rooms.ts';
import { createTrustEffects } from './trust-effects.ts';

/** What is asked of the operator on the screen: cards, and the questions of trust. `closed` ends what still waits. */
export function screenQuestions(rooms: AskedOf): Questions & { closed(): void } {
  const { options, dispatch, say, link, perform, judgedUnder } = rooms;
  const { client, now, untrusted, trustOnce } = options;
  const asks = createAskEffects({
    client,
    dispatch: (action) => dispatch({ type: 'approve', action, now: now() }),
    goOn: (ask) => link.goOn(ask),
    explain: (id) => perform({ do: 'explain-ask', ask_id: id }),
    editText: (ask, text) => perform({ do: 'edit-text', ask, text }),
    say,
    now,
    judgedUnder,
  });
  const definitions = createDefinitionEffects({ client, dispatch, say, now });
  const trust = createTrustEffects({
    client,
    definitions: definitions.review,
    untrusted,
    trustOnce,
    dispatch,
    say,
    now,
  });
  return { asks, trust, definitions, closed: asks.close };
}
