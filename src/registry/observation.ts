import type { DiscoveredModel, ModelFailure } from '../models/model.ts';
import type { RuntimeError } from '../schema/errors.ts';

/** What a backend answered, or why it did not. */
export type Observation =
  | {
      /** `open`: it answers but cannot list its models (08 §4.3). */
      readonly state: 'listed' | 'open';
      readonly models: readonly DiscoveredModel[];
      readonly at: number;
      /** Of the request that brought it; null for one from the cache. */
      readonly latencyMs: number | null;
    }
  | {
      readonly state: 'failed';
      readonly failure: ModelFailure;
      readonly at: number;
      /** Set when the operator's own file or record is at fault and nothing was asked. */
      readonly error: RuntimeError | null;
    };

/** An answer with the models that the backend serves. */
export type Good = Extract<Observation, { state: 'listed' | 'open' }>;
