import type { Notice } from '../schema/event.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { HookView, SourceTool } from '../schema/tool-sources.ts';
import type { HookRow, HookRows } from '../store/hooks.ts';
import type { Registry } from '../store/registry.ts';
import { ulid } from '../text/ids.ts';
import { offeredDefinition } from '../tools/definition.ts';
import { parseTarget } from '../tools/egress.ts';
import type { ToolFailure } from '../tools/failure.ts';
import { hookTool } from '../tools/hooks/hook-tool.ts';
import { type HookPorts, type HookService, isCredentialHeader } from '../tools/hooks/hook-service.ts';
import { inputSchemaOf, membersOf } from '../tools/openapi/members.ts';
import type { HookDefinition } from '../tools/openapi/operations.ts';
import { refusingTool, type SourceTools } from '../tools/source.ts';
import { readTexts } from './backend-fields.ts';
import { namesPrivate, type NetworkDeps, originEgress } from './hook-egress.ts';
import { applied, freshHook, type HookFields } from './hook-fields.ts';
import { isUrl, lookAtSpecification, operationsOfText, specificationOf } from './hook-specification.ts';
import type { ListedTool, Listing, Pins, SourceRef } from './pins.ts';
import type { RecordChange } from './ports.ts';
import type { Secrets } from './secrets.ts';
import { checkSourceName } from './source-names.ts';

export type HooksDeps = {
  readonly rows: HookRows;
  readonly registry: Pick<Registry, 'toolsets'>;
  readonly pins: Pins;
  readonly secrets: Secrets;
  readonly record: RecordChange;
  readonly network: NetworkDeps;
  readonly now: () => number;
  readonly cwd: string;
  /** `reins/<version>`. */
  readonly userAgent: string;
  /** Config `hook-spec-ttl`, in milliseconds. */
  readonly ttlMs: () => number;
};

type Changed = { readonly hook: HookView; readonly warnings: readonly string[]; readonly notes: readonly string[] };

/** How long a description serves when its service cannot be asked (05 §9.3.4). */
const staleMs = 7 * 24 * 3600_000;
/** A service that failed is not asked again by every run. */
const pauseMs = 60_000;
const maxHooks = 200;

/** The registered OpenAPI services: what the operator does with them, and their tools for a run (05 §9). */
export function createHooks(deps: HooksDeps) {
  const { rows, pins, secrets, now } = deps;
  /** When a service failed last, in this process. */
  const failedAt = new Map<string, number>();

  const find = (name: string): HookRow => {
    const row = rows.find(name);
    if (row !== undefined) return row;
    throw new RuntimeError('not_found', `There is no hook named "${name}".`, { hints: ['reins hook list'] });
  };
  const sourceOf = ({ id, name }: HookRow): SourceRef => ({ kind: 'hook', id, name });
  const serviceOf = (row: HookRow): HookService => ({
    name: row.name,
    url: row.url,
    timeoutMs: row.timeout_ms,
    headers: readTexts(row.headers),
    inject: readTexts(row.inject),
  });

  const portsOf = (row: HookRow): { readonly own: HookPorts; readonly elsewhere: Pick<HookPorts, 'egress'> } => {
    const mend = `the operator may use reins hook update ${row.name} --allow-private`;
    const egressOf = (url: string, isPrivate: boolean | null) => {
      const target = parseTarget(url);
      // Only URLs that parse are ever stored.
      if (typeof target === 'string') throw new RuntimeError('internal', `the URL of hook ${row.name} ${target}`);
      return originEgress(deps.network, target, isPrivate ?? namesPrivate(deps.network, target), mend);
    };
    const own = {
      egress: egressOf(row.url, row.allow_private === 1),
      expand: secrets.expand,
      userAgent: deps.userAgent,
    };
    const place = specificationOf(row);
    return { own, elsewhere: { egress: isUrl(place) ? egressOf(place, null) : own.egress } };
  };

  /** Looks at the description and holds its operations against the pins. Never rejects. */
  const look = async (
    row: HookRow,
    options: {
      readonly whole: boolean;
      readonly by: string;
      readonly timeoutMs?: number;
      readonly signal?: AbortSignal;
    },
  ): Promise<{ readonly listing: Listing } | { readonly failure: ToolFailure }> => {
    const { timeoutMs } = options;
    const ports = { ...portsOf(row), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    const signal = options.signal ?? new AbortController().signal;
    const looked = await lookAtSpecification(row, serviceOf(row), ports, options.whole, signal);
    if (looked.kind === 'failed') {
      failedAt.set(row.id, now());
      rows.putError(row.id, secrets.mask(looked.failure.message).slice(0, 500));
      return { failure: looked.failure };
    }
    failedAt.delete(row.id);
    const known = pins.known(sourceOf(row));
    if (looked.kind === 'unchanged' || (looked.sha256 === row.spec_sha256 && known.tools.length > 0)) {
      rows.confirmSpecification(row.id, looked.etag, now());
      return { listing: known };
    }
    const listed = looked.operations.definitions.map(
      (definition): ListedTool => ({ tool: definition.name, definition: { ...definition } }),
    );
    const listing = pins.observe(sourceOf(row), listed, options.by);
    rows.putSpecification(row.id, { text: looked.text, sha256: looked.sha256, etag: looked.etag, at: now() });
    return { listing };
  };

  /** What a run starts from: the last listing where it is young enough, else a new look (05 §9.3.4). */
  const forRun = async (row: HookRow): Promise<{ readonly listing: Listing | null; readonly notices: Notice[] }> => {
    const age = row.spec_fetched_at === null ? Number.POSITIVE_INFINITY : now() - row.spec_fetched_at;
    const fresh = isUrl(specificationOf(row)) && age >= 0 && age < deps.ttlMs();
    if (fresh) return { listing: pins.known(sourceOf(row)), notices: [] };
    const before = failedAt.get(row.id);
    const paused = before !== undefined && now() - before < pauseMs;
    const looked = paused
      ? { failure: { message: row.last_error ?? 'it did not answer' } }
      : await look(row, { whole: false, by: 'first_use' });
    if ('listing' in looked) {
      return { listing: looked.listing, notices: looked.listing.firstUse ? [firstUse(row, looked.listing)] : [] };
    }
    const reason = secrets.mask(looked.failure.message);
    if (age < staleMs) return { listing: pins.known(sourceOf(row)), notices: [stale(row, age, reason)] };
    return { listing: null, notices: [unavailable(row, reason)] };
  };

  const open = async (name: string): Promise<SourceTools> => {
    const row = rows.find(name);
    if (row === undefined) return { name, tools: [], notices: [] };
    const { listing, notices } = await forRun(row);
    const ports = portsOf(row).own;
    if (listing === null) {
      const message = `The hook ${name} cannot be used now: its description was not to be had.`;
      const known = pins.accepted(sourceOf(row));
      return {
        name,
        tools: known.map(({ tool }) => refusingTool({ tools: name, tool }, 'unavailable', message)),
        notices,
      };
    }
    const held = listing.tools.filter(({ state }) => state === 'quarantined').map(({ tool }) => tool);
    const tools = listing.tools.map(({ tool, definition, state }) =>
      state === 'ready'
        ? hookTool(serviceOf(row), definition, ports)
        : refusingTool({ tools: name, tool }, 'quarantined', quarantinedText(name, tool)),
    );
    return { name, tools, notices: held.length === 0 ? notices : [...notices, quarantined(name, held)] };
  };

  const toolsOf = (row: HookRow, listing: Listing): SourceTool[] => {
    const hidden = new Set(Object.keys(readTexts(row.inject)));
    return listing.tools.map(({ tool, definition, sha256, state }) => {
      // Canonical JSON of what `operationsOf` has made.
      const operation = definition as unknown as HookDefinition;
      const offered = offeredDefinition(operation.description, inputSchemaOf(membersOf(operation), hidden));
      return {
        tool,
        description: operation.description,
        sha256,
        state: state === 'ready' && !offered.ok ? 'unavailable' : state,
        flags: offered.ok ? [...offered.flags] : [offered.reason],
      };
    });
  };

  const view = async (row: HookRow, whole: boolean): Promise<HookView> => {
    const source = sourceOf(row);
    const listing = pins.known(source);
    const drift = pins.drift(source);
    const text = whole ? rows.specificationText(row.id) : null;
    const read =
      text === null
        ? { skipped: [], serverPaths: [] }
        : await operationsOfText(serviceOf(row), specificationOf(row), text);
    const stamp = (at: number): string => new Date(at).toISOString();
    const state =
      drift.length > 0
        ? 'quarantined'
        : row.spec_fetched_at !== null
          ? 'ready'
          : row.last_error !== null
            ? 'unavailable'
            : 'idle';
    return {
      name: row.name,
      url: row.url,
      spec: row.spec,
      headers: Object.keys(readTexts(row.headers)),
      inject: Object.keys(readTexts(row.inject)),
      timeout_ms: row.timeout_ms,
      allow_private: row.allow_private === 1,
      created_at: stamp(row.created_at),
      updated_at: stamp(row.updated_at),
      state,
      tools: toolsOf(row, listing),
      definition_sha256: row.spec_fetched_at === null ? null : listing.sha256,
      drift: drift.map(({ tool, change, sha256, before, after }) => ({ tool, change, sha256, before, after })),
      skipped: [...read.skipped],
      notes: serverNotes(row.url, read.serverPaths),
      spec_fetched_at: row.spec_fetched_at === null ? null : stamp(row.spec_fetched_at),
      last_error: row.last_error,
    };
  };

  const changed = async (row: HookRow, notes: readonly string[]): Promise<Changed> => ({
    hook: await view(row, false),
    warnings: literalWarnings(row),
    notes,
  });

  return {
    /** Registers a service; contacts nothing. @throws RuntimeError usage, already_exists */
    async addHook(input: HookFields & { readonly name: string }): Promise<Changed> {
      const { name } = input;
      const refuse = (): void => checkSourceName(name, takenNames(rows, deps.registry));
      refuse();
      if (rows.names().length >= maxHooks)
        throw new RuntimeError('usage', `At most ${maxHooks} hooks can be registered.`);
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
      const old = find(input.name);
      const { row, notes } = applied({ ...old, updated_at: now() }, input, deps);
      const elsewhere = row.url !== old.url || row.spec !== old.spec;
      deps.record('registry_changed', { registry: 'hook', name: row.name, change: 'updated' }, () =>
        rows.update(row, elsewhere),
      );
      failedAt.delete(row.id);
      return changed(find(row.name), notes);
    },

    /** Fetches the description now; accepts nothing but a first listing. @throws RuntimeError not_found, hook_error */
    async refreshHook(input: { readonly name: string }, by: string): Promise<HookView> {
      const row = find(input.name);
      const looked = await look(row, { whole: true, by });
      if ('failure' in looked) {
        throw new RuntimeError('hook_error', `hook "${row.name}": ${secrets.mask(looked.failure.message)}`, {
          data: { class: looked.failure.error },
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
      await look(row, { whole: true, by });
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

    open,

    /** Looks at every service for `doctor`. Never rejects. */
    async check(timeoutMs: number): Promise<readonly HookCheck[]> {
      return Promise.all(
        rows.list().map(async (row): Promise<HookCheck> => {
          const started = performance.now();
          const looked = await look(row, { whole: false, by: 'first_use', timeoutMs });
          const latencyMs = performance.now() - started;
          const common = { name: row.name, tools: pins.known(sourceOf(row)).tools.length, latencyMs };
          const waiting = pins.drift(sourceOf(row)).map(({ tool }) => tool);
          return 'listing' in looked
            ? { ...common, waiting, error: null }
            : { ...common, waiting, error: secrets.mask(looked.failure.message) };
        }),
      );
    },
  };
}

export type Hooks = ReturnType<typeof createHooks>;

/** How a service was found by `doctor`. */
export type HookCheck = {
  readonly name: string;
  readonly tools: number;
  readonly latencyMs: number;
  /** Tools whose definitions wait to be accepted. */
  readonly waiting: readonly string[];
  readonly error: string | null;
};

const takenNames = (rows: HookRows, registry: Pick<Registry, 'toolsets'>) => {
  const hooks = new Set(rows.names());
  return registry
    .toolsets()
    .map((name) => ({ name, what: hooks.has(name) ? ('hook' as const) : ('MCP server' as const) }));
};

const notice = (level: 'info' | 'warn', code: string, message: string, data: unknown): Notice => ({
  kind: 'notice',
  level,
  code,
  message,
  data,
});

const firstUse = ({ name }: HookRow, { tools, sha256 }: Listing): Notice =>
  notice('info', 'definition_first_use', `The ${tools.length} tools of hook ${name} were accepted as they are now.`, {
    tools: name,
    definition_sha256: sha256,
  });

const stale = ({ name }: HookRow, ageMs: number, reason: string): Notice =>
  notice(
    'warn',
    'hook_spec_stale',
    `The description of hook ${name} is ${Math.round(ageMs / 3600_000)} h old and could not be fetched: ${reason}`,
    { tools: name },
  );

const unavailable = ({ name }: HookRow, reason: string): Notice =>
  notice('warn', 'provider_unavailable', `The hook ${name} cannot be used: ${reason}`, { tools: name });

const quarantinedText = (name: string, tool: string): string =>
  `The definition of ${name}.${tool} is not the one that was accepted. The operator looks at it with reins hook accept ${name}.`;

const quarantined = (name: string, tools: readonly string[]): Notice =>
  notice(
    'warn',
    'tool_quarantined',
    `${tools.length === 1 ? 'A tool' : `${tools.length} tools`} of hook ${name} changed and cannot be called: reins hook accept ${name} shows the difference.`,
    { tools: name, quarantined: tools.slice(0, 50) },
  );

/** 05 §9.1.1. */
function literalWarnings(row: HookRow): string[] {
  return Object.entries(readTexts(row.headers)).flatMap(([name, value]) =>
    isCredentialHeader(name) && !value.includes('${env:')
      ? [`the value of header ${name} is stored in the database; write it as ${name}: \${env:NAME}`]
      : [],
  );
}

/** `servers` of a description is ignored; a path of its own there is a likely mistake (05 §9.3.5). */
function serverNotes(url: string, serverPaths: readonly string[]): string[] {
  const own = new URL(url).pathname.replace(/\/+$/, '');
  const other = serverPaths.find((path) => path !== own);
  if (other === undefined || serverPaths.includes(own)) return [];
  return [`the description says that its paths lie below "${other || '/'}"; calls go to ${url}`];
}
