import { RuntimeError } from '../schema/errors.ts';
import type { HookView, RegisteredTool, SourceCheck } from '../schema/tool-sources.ts';
import type { HookRow, HookRows } from '../store/hooks.ts';
import type { Registry } from '../store/registry.ts';
import { ulid } from '../text/ids.ts';
import { isCredentialHeader } from '../tools/hooks/hook-service.ts';
import { isHidden, membersOf } from '../tools/openapi/members.ts';
import type { HookDefinition } from '../tools/openapi/operations.ts';
import type { SourceTools } from '../tools/source.ts';
import { readTexts } from './backend-fields.ts';
import type { DiffPort } from './drift-view.ts';
import { applied, freshHook, type HookFields } from './hook-fields.ts';
import { createHookListing, type HookListingDeps, sourceOf } from './hook-listing.ts';
import { openHook } from './hook-tools.ts';
import { hookView, offeredTools } from './hook-view.ts';
import type { RecordChange } from './ports.ts';
import { lookedAt } from './source-checks.ts';
import { checkSourceName } from './source-names.ts';

export type HooksDeps = HookListingDeps & {
  readonly registry: Pick<Registry, 'toolsets'>;
  readonly record: RecordChange;
  readonly cwd: string;
  readonly diff: DiffPort;
  /** Config `hook-spec-ttl`, in milliseconds. */
  readonly ttlMs: () => number;
};

type Changed = { readonly hook: HookView; readonly warnings: readonly string[]; readonly notes: readonly string[] };

const maxHooks = 200;

/** The registered OpenAPI services: what the operator does with them, and their tools for a run (05 §9). */
export function createHooks(deps: HooksDeps) {
  const { rows, pins, now } = deps;
  const listing = createHookListing(deps);

  const find = (name: string): HookRow => {
    const row = rows.find(name);
    if (row !== undefined) return row;
    throw new RuntimeError('not_found', `There is no hook named "${name}".`, { hints: ['reins hook list'] });
  };
  const view = (row: HookRow, whole: boolean): Promise<HookView> => hookView(deps, row, whole);
  const changed = async (row: HookRow, notes: readonly string[]): Promise<Changed> => ({
    hook: await view(row, false),
    warnings: literalWarnings(row),
    notes,
  });

  return {
    /** Registers a service; contacts nothing. @throws RuntimeError usage, already_exists */
    async addHook(input: HookFields & { readonly name: string }): Promise<Changed> {
      const { name } = input;
      const refuse = (): void => checkSourceName(name, 'hook', takenNames(rows, deps.registry), input.url);
      refuse();
      if (rows.names().length >= maxHooks) {
        throw new RuntimeError('usage', `At most ${maxHooks} hooks can be registered.`, { hints: ['reins hook list'] });
      }
      const { row, notes } = applied(freshHook(`hook_${ulid(now())}`, name, now()), input, deps);
      deps.record('registry_changed', { registry: 'hook', name, change: 'added' }, () => {
        // Once more under the lock: another process may have taken the name meanwhile.
        refuse();
        rows.insert(row);
      });
      return changed(row, notes);
    },

    /** Sorted by name. */
    async listHooks(_input: Readonly<Record<string, never>> = {}): Promise<HookView[]> {
      return Promise.all(rows.list().map((row) => view(row, false)));
    },

    /** With skipped operations; contacts nothing. @throws RuntimeError not_found */
    async showHook(input: { readonly name: string }): Promise<HookView> {
      return view(find(input.name), true);
    },

    /** Changes the given fields; each map is replaced whole. @throws RuntimeError not_found, usage */
    async updateHook(input: HookFields & { readonly name: string }): Promise<Changed> {
      const { name } = find(input.name);
      let notes: readonly string[] = [];
      deps.record('registry_changed', { registry: 'hook', name, change: 'updated' }, () => {
        // Read under the lock: what another process has changed meanwhile stays.
        const old = find(name);
        const made = applied({ ...old, updated_at: now() }, input, deps);
        notes = made.notes;
        rows.update(made.row, made.row.url !== old.url || made.row.spec !== old.spec);
      });
      const row = find(name);
      listing.forget(row);
      return changed(row, notes);
    },

    /** Fetches the description now; accepts nothing but a first listing. @throws RuntimeError not_found, hook_error */
    async refreshHook(input: { readonly name: string }, by: string): Promise<HookView> {
      const row = find(input.name);
      const looked = await listing.look(row, { whole: true, by });
      if ('failure' in looked) {
        const { message, error } = looked.failure;
        throw new RuntimeError('hook_error', `hook "${row.name}": ${message}`, {
          data: { class: error, reason: message },
          hints: [`reins hook show ${row.name}`],
        });
      }
      return view(find(input.name), true);
    },

    /**
     * Accepts changed definitions of exactly the listing that was shown (05 §2.6.4).
     * @throws RuntimeError not_found, conflict when it has changed again: then nothing is accepted
     */
    async acceptHook(
      input: {
        readonly name: string;
        readonly definition_sha256: string;
        readonly tools?: readonly string[] | undefined;
      },
      by: string,
    ): Promise<HookView> {
      const row = find(input.name);
      // Where the service cannot be asked, what was shown is the last that is known.
      await listing.look(row, { whole: true, by });
      pins.accept(sourceOf(row), input.definition_sha256, input.tools ?? null, by);
      return view(find(input.name), true);
    },

    /** With its pins and its description. @throws RuntimeError not_found */
    async removeHook(input: { readonly name: string }): Promise<null> {
      const row = find(input.name);
      deps.record('registry_changed', { registry: 'hook', name: row.name, change: 'removed' }, () => {
        pins.forget(sourceOf(row));
        rows.delete(row.id);
      });
      return null;
    },

    /** The tools of one hook for a run. Never rejects for what a service can cause. */
    open: (name: string): Promise<SourceTools> => openHook({ ...deps, listing }, name),

    /** Every tool of the last listings; descriptions as they came, cut (09 §6.10). Contacts nothing. */
    registeredTools: (): readonly RegisteredTool[] =>
      rows.list().flatMap((row) =>
        offeredTools(row, pins.known(sourceOf(row))).map(({ tool, state, description, schema }) => {
          return {
            tools: row.name,
            tool,
            source: 'hook' as const,
            description,
            schema: { ...schema },
            state,
          };
        }),
      ),

    /** The arguments that a tool takes beside the injected ones; null for one that is not known. */
    argumentNames(name: string, tool: string): readonly string[] | null {
      const row = rows.find(name);
      const found = row === undefined ? undefined : pins.known(sourceOf(row)).tools.find((one) => one.tool === tool);
      if (row === undefined || found === undefined) return null;
      const hidden = new Set(Object.keys(readTexts(row.inject)));
      // JSON of what `operationsOf` has made.
      const members = membersOf(found.definition as unknown as HookDefinition);
      return members.list.filter((member) => !isHidden(member, hidden)).map(({ argument }) => argument);
    },

    /** Every service for `doctor`, asked at the same time; `ask` null: as it was last known. Never rejects. */
    check: (ask: { readonly timeoutMs: number } | null): Promise<readonly SourceCheck[]> =>
      Promise.all(
        rows.list().map((row) => {
          const about = { kind: 'hook', name: row.name, place: row.url } as const;
          return lookedAt(about, async () => {
            const started = performance.now();
            const source = sourceOf(row);
            const looked = ask === null ? null : await listing.look(row, { whole: false, by: 'first_use', ...ask });
            const failure = looked !== null && 'failure' in looked ? looked.failure : null;
            const known = pins.known(source).tools.length;
            // As it was when it was asked last: its description has been read since.
            const kept = row.last_error !== null ? 'error' : known > 0 ? 'ready' : 'pending';
            return {
              ...about,
              state: looked === null ? kept : failure === null ? 'ready' : 'error',
              tools: known,
              waiting: pins.drift(source).map(({ tool }) => tool),
              latencyMs: looked === null || failure !== null ? null : performance.now() - started,
              errorClass: failure?.error ?? null,
              error: failure?.message ?? (looked === null ? row.last_error : null),
            };
          });
        }),
      ),
  };
}

export type Hooks = ReturnType<typeof createHooks>;

const takenNames = (rows: HookRows, registry: Pick<Registry, 'toolsets'>) => {
  const hooks = new Set(rows.names());
  return registry
    .toolsets()
    .map((name) => ({ name, what: hooks.has(name) ? ('hook' as const) : ('MCP server' as const) }));
};

/** 05 §9.1.1. */
function literalWarnings(row: HookRow): string[] {
  return Object.entries(readTexts(row.headers)).flatMap(([name, value]) =>
    isCredentialHeader(name) && !value.includes('${env:')
      ? [`the value of header ${name} is stored in the database; write it as ${name}: \${env:NAME}`]
      : [],
  );
}
