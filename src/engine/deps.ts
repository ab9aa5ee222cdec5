import type { CreateModel } from '../models/model.ts';
import type { Within } from '../text/within.ts';

/** What the engine cannot have by itself: models, time, ids and chance come in. */
export type EngineDeps = {
  readonly createModel: CreateModel;
  /** Milliseconds since the epoch. */
  now(): number;
  /** A new id: a ULID, with `call_` in front for a call. */
  newId(kind: 'call' | 'message'): string;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** For templates, which may make much of what they are given. */
  readonly within: Within;
  /** Uniform in [0, 1). */
  random(): number;
};
