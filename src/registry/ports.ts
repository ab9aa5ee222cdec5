import type { Notice, SetupChanged } from '../schema/event.ts';
import type { WireError } from '../schema/errors.ts';
import type { Route } from '../schema/protocol.ts';
import type { SourceKind } from '../schema/tool-sources.ts';

export type UserSettingsFault = { readonly path: string; readonly message: string; readonly mend: string };

/** Settings that belong to the user and never to a project's database (config key `shell`). Values are JSON text. */
export type UserSettings = {
  get(key: string): string | null;
  /** Why the file counts as empty, and the command that mends it; null where it is used or missing. */
  fault(): UserSettingsFault | null;
  set(key: string, json: string): void;
  delete(key: string): void;
};

/**
 * Writes one change of a registry with its audit row in one transaction (11 §2.7, §2.8). `body` writes the rows;
 * `entry` is masked and holds names only.
 */
export type RecordChange = <T>(
  type: 'registry_changed' | 'config_changed' | 'first_use' | 'definition_accepted',
  entry: Readonly<Record<string, unknown>>,
  body: () => T,
) => T;

/** Tells every process that looks on that something has become of a registered hook or tool server, without an audit row. */
export type TellChange = (registry: SourceKind, name: string) => void;

/** Tells every process that looks on that the set-up is another one than it was (04 §18.1). Never throws. */
export type TellSetup = (state: Omit<SetupChanged, 'kind'>) => void;

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
