import type { ModelFailure } from '../models/model.ts';
import type { Notice } from '../schema/event.ts';
import type { WireError } from '../schema/errors.ts';
import type { Route } from '../schema/protocol.ts';

/** Rows of 11 §2.2 of one tenant, columns as they are: JSON columns are JSON text, times are milliseconds. */
export type BackendRow = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly base_url: string;
  readonly key_env: string | null;
  readonly key_literal: string | null;
  /** JSON text of a map name -> value. */
  readonly headers: string;
  readonly proxy: string;
  readonly connect_timeout_ms: number | null;
  readonly first_byte_timeout_ms: number | null;
  readonly idle_timeout_ms: number | null;
  readonly created_at: number;
  readonly updated_at: number;
};

export type DeclarationRow = {
  /** null = any backend. */
  readonly backend_id: string | null;
  readonly model: string;
  readonly context: number | null;
  readonly max_output: number | null;
  /** JSON text of a map capability -> boolean. */
  readonly capabilities: string;
  readonly source_url: string | null;
  readonly sha256: string | null;
  readonly created_at: number;
  readonly updated_at: number;
};

export type CachedModelRow = {
  readonly model: string;
  readonly source_hash: string;
  /** JSON text of a discovered model. */
  readonly data: string;
  readonly fetched_at: number;
};

export type CheckRow = {
  readonly backend_id: string;
  readonly status: string;
  readonly error_class: string | null;
  readonly error: string | null;
  readonly checked_at: number;
};

/** What this room needs of `store/registry.ts`. All functions are synchronous. */
export type RegistryStore = {
  listBackends(): readonly BackendRow[];
  findBackend(name: string): BackendRow | undefined;
  insertBackend(row: BackendRow): void;
  /** By id. */
  updateBackend(row: BackendRow): void;
  /** With its declarations, cache and check. */
  deleteBackend(id: string): void;
  declarations(): readonly DeclarationRow[];
  /** Inserts, or replaces the row of the same backend and model. */
  putDeclaration(row: DeclarationRow): void;
  /** @returns the number of deleted rows. */
  deleteDeclaration(backendId: string | null, model: string): number;
  cached(backendId: string): readonly CachedModelRow[];
  /** Replaces everything cached of a backend. `data` is JSON text. */
  putCache(
    backendId: string,
    sourceHash: string,
    models: readonly { readonly model: string; readonly data: string }[],
    fetchedAt: number,
  ): void;
  checks(): readonly CheckRow[];
  putCheck(row: CheckRow): void;
};

/** What this room needs of `store/settings.ts`: `kv` rows; values are JSON text. */
export type SettingsStore = {
  get(key: string): string | null;
  set(key: string, json: string, now: number): void;
  delete(key: string): void;
  list(prefix: string): readonly { readonly key: string; readonly value: string }[];
};

/** Settings that belong to the user and never to a project's database (config key `shell`). Values are JSON text. */
export type UserSettings = {
  get(key: string): string | null;
  set(key: string, json: string): void;
  delete(key: string): void;
};

/**
 * Writes one change of a registry with its audit row in one transaction (11 §2.7, §2.8). `body` writes the rows;
 * `entry` is masked and holds names only.
 */
export type RecordChange = <T>(
  type: 'registry_changed' | 'config_changed',
  entry: Readonly<Record<string, unknown>>,
  body: () => T,
) => T;

/** A backend as adapters and discovery need it: credentials read at this moment (08 §2.3). */
export type Target = {
  readonly backend: string;
  readonly type: string;
  readonly base_url: string;
  readonly key: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** A URL, or null for a direct connection. */
  readonly proxy: string | null;
  readonly workspace: string;
};

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

/** Allowlists of the policy (02 §11); empty = no restriction. */
export type RouteBounds = { readonly models: readonly string[]; readonly backends: readonly string[] };

export type RouteResult =
  | { readonly kind: 'routes'; readonly routes: readonly Route[]; readonly notices: readonly Notice[] }
  | { readonly kind: 'refused'; readonly error: WireError };

/** Why a backend could not say what it serves. */
export type DiscoveryFailure = ModelFailure;
