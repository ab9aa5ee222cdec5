import type { WireError } from '../schema/errors.ts';
import type { Notice } from '../schema/event.ts';
import type { Route } from '../schema/protocol.ts';

/** What a model turn wants (08 §3). Empty lists mean the defaults. */
export type WantedRoutes = {
  readonly providers: readonly string[];
  readonly models: readonly string[];
  readonly defaultModel: string;
  readonly defaultProvider: string;
  readonly needs: { readonly tools: boolean; readonly vision: boolean };
  /** Estimated tokens; 0 = not checked. */
  readonly tokenNeed: number;
  /** `--context`; 0 = none. */
  readonly contextHint: number;
  readonly workspace: string;
};

export type RouteBounds = { readonly models: readonly string[]; readonly backends: readonly string[] };

/** Resolves names to ordered (backend, model) pairs; in production `registry/models.ts`. */
export type FindRoutes = (
  wanted: WantedRoutes,
  bounds: RouteBounds,
  signal: AbortSignal,
) => Promise<
  | { readonly kind: 'routes'; readonly routes: readonly Route[]; readonly notices: readonly Notice[] }
  | { readonly kind: 'refused'; readonly error: WireError }
>;
