import type { DiscoveredModel } from '../models/model.ts';
import {
  type Candidate,
  hasCapability,
  resolveRoutes,
  type Resolution,
  findModel,
  type Wanted,
} from '../models/resolve.ts';
import type { WireError } from '../schema/errors.ts';
import type { Notice } from '../schema/event.ts';
import type { Route } from '../schema/protocol.ts';
import { capabilityNames } from '../schema/registry.ts';
import type { DeclarationRow, Registry } from '../store/registry.ts';
import type { Backend, Backends } from './backends.ts';
import type { Observation } from './observation.ts';
import type { Observer } from './observe.ts';
import type { RouteBounds, RouteResult, WantedRoutes } from './ports.ts';
import { refusal } from './refusal.ts';
import { declaredContext, seenBackend, type View } from './seen.ts';
import type { Settings } from './settings.ts';

export type RoutesDeps = {
  readonly store: Pick<Registry, 'declarations'>;
  readonly backends: Pick<Backends, 'inUse'>;
  readonly observer: Observer;
  readonly settings: Pick<Settings, 'value'>;
};

/** Limit of a discovery that a run waits for (08 §9.4). */
const discoveryMs = 3000;
/** More fallbacks are of no use. */
const maxRoutes = 8;

const localTypes: ReadonlySet<string> = new Set(['ollama', 'local', 'vllm', 'openai-compatible']);

/** What a run knows of backends when it asks for a turn. */
type Sight = {
  readonly backends: readonly Backend[];
  readonly declarations: readonly DeclarationRow[];
  readonly views: Map<string, View>;
  /** Backends that this very question found failing. */
  readonly justFailed: Set<string>;
};

/**
 * Ordered (backend, model) pairs for a model turn (08 §3), each with the one key that it needs. A fresh cache entry or a
 * declaration of the model costs no request; else the backends that could stand first are asked at once, and the answer
 * is given as soon as nothing that is still open could change the first candidate (08 §4.2).
 */
export function createRoutes(deps: RoutesDeps) {
  /** What was said already, per run: a run asks with one signal for its whole life. */
  const said = new WeakMap<AbortSignal, Set<string>>();

  const look = (wanted: Wanted): Sight => {
    const backends = deps.backends
      .inUse()
      .filter(({ type }) =>
        wanted.types.length > 0
          ? wanted.types.includes(type)
          : type !== 'scripted' || wanted.defaultType === 'scripted',
      );
    const views = new Map<string, View>();
    for (const backend of backends) {
      const known = deps.observer.fresh(backend);
      if (known !== null) views.set(backend.name, withStale(backend, known));
    }
    return { backends, declarations: deps.store.declarations(), views, justFailed: new Set() };
  };

  /** A failed refresh leaves the older list standing, where there is one (08 §4.2). */
  const withStale = (backend: Backend, seen: Observation): View => {
    if (seen.state !== 'failed' || seen.failure.class === 'auth' || seen.error !== null) {
      return { observation: seen, stale: false };
    }
    const older = deps.observer.lastGood(backend);
    return older === null ? { observation: seen, stale: false } : { observation: older, stale: true };
  };

  const resolve = (wanted: Wanted, sight: Sight): Resolution =>
    resolveRoutes(
      wanted,
      sight.backends.map((backend) =>
        seenBackend(backend, sight.views.get(backend.name) ?? { observation: null, stale: false }, sight.declarations),
      ),
    );

  /** Asks backends until the first candidate is certain. Rejects only when the signal aborts. */
  const settle = async (
    wanted: Wanted,
    sight: Sight,
    signal: AbortSignal,
  ): Promise<Exclude<Resolution, { kind: 'ask' }>> => {
    const asked = new Map<string, Promise<string>>();
    for (;;) {
      const resolution = resolve(wanted, sight);
      if (resolution.kind !== 'ask') return resolution;
      for (const name of resolution.backends) {
        const backend = sight.backends.find((one) => one.name === name);
        if (backend === undefined || asked.has(name)) continue;
        asked.set(
          name,
          deps.observer.observe(backend, { timeoutMs: discoveryMs }).then((seen) => {
            if (seen.state === 'failed') sight.justFailed.add(name);
            sight.views.set(name, withStale(backend, seen));
            return name;
          }),
        );
      }
      const waited = resolution.backends.flatMap((name) => asked.get(name) ?? []);
      asked.delete(await first(waited, signal));
    }
  };

  const routeOf = (candidate: Candidate, sight: Sight, wanted: WantedRoutes): Route | WireError => {
    const backend = sight.backends.find(({ name }) => name === candidate.backend);
    if (backend === undefined) throw new TypeError(`no backend ${candidate.backend}`);
    const ready = deps.observer.credentials(backend);
    if (ready.kind === 'missing') return { code: 'auth', message: ready.failure.message };
    const isLocal = localTypes.has(backend.type);
    const context = contextOf(backend, candidate, sight, wanted.contextHint);
    return {
      backend: backend.name,
      type: backend.type,
      base_url: backend.base_url,
      key: ready.key,
      key_env: backend.key_env,
      headers: ready.headers,
      proxy: deps.observer.proxyOf(backend),
      timeouts: {
        connect_ms: backend.connect_timeout_ms ?? 10_000,
        first_byte_ms: backend.first_byte_timeout_ms ?? (isLocal ? 300_000 : 120_000),
        idle_ms: backend.idle_timeout_ms ?? 90_000,
      },
      model: candidate.model,
      context: context.effective,
      max_output: candidate.seen.max_output,
      capabilities: Object.fromEntries(capabilityNames.map((name) => [name, hasCapability(candidate.seen, name)])),
      num_ctx: { fixed: context.fixed, cap: deps.settings.value('num-ctx-cap') },
      keep_alive: deps.settings.value('keep-alive'),
      workspace: wanted.workspace,
      ...(candidate.substitutedFor === null ? {} : { substituted_for: candidate.substitutedFor }),
      ...(candidate.seen.digest === undefined ? {} : { digest: digestOf(candidate.seen.digest) }),
    };
  };

  const noticesOf = (routes: readonly Route[], sight: Sight, wanted: WantedRoutes, signal: AbortSignal): Notice[] => {
    const [chosen] = routes;
    if (chosen === undefined) return [];
    const once = said.get(signal) ?? new Set<string>();
    said.set(signal, once);
    const notices: Notice[] = [];
    const warn = (code: string, message: string, data: unknown): void => {
      if (once.has(`${code} ${message}`)) return;
      once.add(`${code} ${message}`);
      notices.push({ kind: 'notice', level: 'warn', code, message, data });
    };
    const { backend, model, substituted_for: wish } = chosen;
    if (wish !== undefined) {
      warn('model_substituted', `no backend serves "${wish}"; "${model}" of ${backend} is used`, {
        wanted: wish,
        model,
        backend,
      });
    }
    if (sight.views.get(backend)?.stale === true) {
      warn('discovery_stale', `backend "${backend}" cannot list its models now; an older list is used`, { backend });
    }
    for (const failed of sight.backends) {
      if (failed.name === backend) continue;
      const seen = sight.views.get(failed.name)?.observation;
      // The check before a run may have asked: what it found failing is left out no less.
      const leftOut = seen?.state === 'failed' && standsBefore(failed, chosen, wanted.providers);
      if (!sight.justFailed.has(failed.name) && !leftOut) continue;
      // A backend of another type that nobody asked for by name was no choice before this one.
      if (failed.type !== chosen.type && !wanted.providers.includes(failed.type)) continue;
      const reason = seen?.state === 'failed' ? seen.failure.message : 'it did not answer';
      warn('backend_fallback', `backend "${failed.name}" is left out (${reason}); "${backend}" serves`, {
        from: failed.name,
        to: backend,
      });
    }
    const { contextHint } = wanted;
    if (contextHint > 0 && chosen.context !== null && chosen.context < contextHint) {
      warn(
        'context_limited',
        `model "${model}" has a context of ${chosen.context}; --context ${contextHint} is lowered`,
        {
          model,
          context: chosen.context,
        },
      );
    }
    return notices;
  };

  return {
    /** Never rejects but when the signal aborts; what cannot be resolved is `refused` with its reason. */
    async routes(wanted: WantedRoutes, bounds: RouteBounds, signal: AbortSignal): Promise<RouteResult> {
      const wish = wishOf(wanted, bounds);
      const sight = look(wish);
      const resolution = await settle(wish, sight, signal);
      if (resolution.kind !== 'candidates') {
        return { kind: 'refused', error: refusal(resolution, wish, [...sight.views.values()]) };
      }
      const routes: Route[] = [];
      let refused: WireError | null = null;
      for (const candidate of resolution.candidates.slice(0, maxRoutes)) {
        const route = routeOf(candidate, sight, wanted);
        if ('code' in route) refused ??= route;
        else routes.push(route);
      }
      if (routes.length === 0 && refused !== null) return { kind: 'refused', error: refused };
      return { kind: 'routes', routes, notices: noticesOf(routes, sight, wanted, signal) };
    },
  };
}

/** Whether a backend comes before the chosen one in the order of 08 §3.1, where both could be asked. */
const standsBefore = (backend: Backend, chosen: Route, providers: readonly string[]): boolean =>
  !backend.implicit &&
  (backend.type === chosen.type
    ? backend.name < chosen.backend
    : providers.indexOf(backend.type) < providers.indexOf(chosen.type));

const wishOf = (wanted: WantedRoutes, bounds: RouteBounds): Wanted => ({
  types: [...new Set(wanted.providers.filter((type) => type !== ''))],
  defaultType: wanted.defaultProvider,
  models: namesOr(wanted.models, wanted.defaultModel),
  needs: [
    'chat',
    ...(wanted.needs.tools ? (['tools'] as const) : []),
    ...(wanted.needs.vision ? (['vision'] as const) : []),
  ],
  tokens: wanted.tokenNeed,
  allow: bounds,
});

function namesOr(models: readonly string[], fallback: string): readonly string[] {
  const named = [...new Set(models.filter((model) => model !== ''))];
  return named.length > 0 ? named : [fallback];
}

/** The first of several promises, or a rejection when the signal aborts. */
async function first<T>(promises: readonly Promise<T>[], signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let abort = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([...promises, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Ollama names a digest by its bare hexadecimal form. */
const digestOf = (text: string): string => (/^[0-9a-f]{64}$/.test(text) ? `sha256:${text}` : text);

/** Known context, and for local servers the one that is sent as it is (08 §9.1). */
function contextOf(
  backend: Backend,
  candidate: Candidate,
  sight: Sight,
  hint: number,
): { readonly effective: number | null; readonly fixed: number | null } {
  const found = discovered(sight.views.get(backend.name)?.observation ?? null, backend.type, candidate.model);
  const declared = declaredContext(backend, candidate.model, sight.declarations);
  const most = found?.context ?? null;
  const capped = (tokens: number): number => (most === null ? tokens : Math.min(tokens, most));
  // A hint counts as declared for this invocation, but never above what the model has.
  const fixed = hint > 0 ? capped(hint) : declared === null ? null : capped(declared);
  if (hint > 0) return { effective: capped(hint), fixed };
  return { effective: declared ?? most, fixed };
}

const discovered = (seen: Observation | null, type: string, model: string): DiscoveredModel | undefined =>
  seen === null || seen.state === 'failed' ? undefined : findModel(type, seen.models, model);
