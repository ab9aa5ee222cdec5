import type { RuntimeClient } from '../src/client/operations.ts';
import type { Action } from './actions.ts';
import type { Effect } from './effect.ts';
import type { State } from './state.ts';
import type { ClientLink } from './use-client.ts';

/** A function for each kind of effect. */
export type Doing = { readonly [K in Effect['do']]: (effect: Extract<Effect, { do: K }>) => void };

/** What a group of effects stands on. */
export type EffectGround = {
  readonly link: ClientLink;
  readonly state: () => State;
  readonly dispatch: (action: Action) => void;
  /** Does it with the client; a failure is told, and puts back the line that asked for it. */
  readonly attempt: (work: (client: RuntimeClient) => Promise<unknown>) => void;
  readonly say: (text: string, bad?: boolean) => void;
};
