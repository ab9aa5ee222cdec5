import { setMaxListeners } from 'node:events';
import type { DiscoveredModel, DiscoverTarget, Discovery, ModelFailure } from '../models/model.ts';
import { discoverModels, isProviderType, providerTable } from '../models/providers.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { ProviderType } from '../schema/registry.ts';
import type { BackendRow, Registry } from '../store/registry.ts';
import { parseUrl } from '../text/parse-url.ts';
import { readHeaders } from './backend-fields.ts';
import { cacheRows, readCache, sourceHash } from './model-cache.ts';
import type { Good, Observation } from './observation.ts';
import type { Secrets } from './secrets.ts';
import { proxyFor } from './urls.ts';

/** Values for one request; or the variable that it needs and does not have. */
type Credentials =
  | { readonly kind: 'ready'; readonly key: string | null; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'missing'; readonly variable: string; readonly failure: ModelFailure };

export type ObserverDeps = {
  readonly store: Pick<Registry, 'cached' | 'putCache' | 'putCheck'>;
  readonly secrets: Secrets;
  /** For the proxy variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workspace: string;
  readonly now: () => number;
  /** The wire; the adapters' own unless a test gives another. */
  readonly discover?: (type: ProviderType, target: DiscoverTarget, signal: AbortSignal) => Promise<Discovery>;
};

type ObserveOptions = {
  readonly timeoutMs: number;
  /** Asks although the cache is fresh. */
  readonly force?: boolean;
};

/** A backend that failed is not asked again by the next model turn for this long. */
const failureKeptMs = 10_000;
/** Finds out what backends serve: cached, at most one request at a time for each (08 §4). */
export function createObserver(deps: ObserverDeps) {
  const discover = deps.discover ?? discoverModels;
  const closing = new AbortController();
  // Every backend that is asked listens; Node would write a warning of more than ten.
  setMaxListeners(0, closing.signal);
  const memory = new Map<string, { readonly source: string; readonly seen: Observation }>();
  const running = new Map<string, Promise<Observation>>();

  const credentials = (backend: BackendRow): Credentials => {
    const { secrets } = deps;
    const missing = (variable: string): Credentials => ({
      kind: 'missing',
      variable,
      failure: {
        class: 'auth',
        message: `backend "${backend.name}" needs the variable ${variable}, which is not set`,
      },
    });
    let key = backend.key_literal;
    if (key !== null) secrets.register(`${backend.name}.key`, key);
    if (backend.key_env !== null) {
      // A variable that was filled from a file often ends in a line break, which no header can carry.
      key = secrets.read(backend.key_env, `${backend.name}.key`)?.trim() ?? null;
      if (key === null) return missing(backend.key_env);
    }
    const headers: Record<string, string> = {};
    for (const [name, text] of Object.entries(readHeaders(backend))) {
      const value = secrets.expand(text, `${backend.name}.${name}`);
      if (value.kind === 'missing') return missing(value.variable);
      headers[name] = value.value.trim();
    }
    return { kind: 'ready', key, headers };
  };

  const proxyOf = (backend: BackendRow): string | null => {
    const proxy = proxyFor(backend.proxy, backend.base_url, deps.environment);
    // The password of a proxy is a secret like any other.
    const url = proxy === null ? null : parseUrl(proxy);
    if (url !== null) for (const password of spellings(url.password)) deps.secrets.register('proxy.password', password);
    return proxy;
  };

  const targetOf = (
    backend: BackendRow,
    ready: Extract<Credentials, { kind: 'ready' }>,
    timeoutMs: number,
    known: readonly DiscoveredModel[],
  ): DiscoverTarget => ({
    backend: backend.name,
    base_url: backend.base_url,
    key: ready.key,
    key_env: backend.key_env,
    headers: ready.headers,
    proxy: proxyOf(backend),
    timeout_ms: timeoutMs,
    workspace: deps.workspace,
    known,
  });

  /** What the database or this process last heard, however old; null when nothing, or when URL or key source changed. */
  const last = (backend: BackendRow): Observation | null => {
    const source = sourceHash(backend);
    const kept = memory.get(backend.id);
    if (kept?.source === source) return kept.seen;
    const stored = readCache(deps.store.cached(backend.id), source);
    if (stored !== null) memory.set(backend.id, { source, seen: stored });
    return stored;
  };

  const isFresh = (backend: BackendRow, seen: Observation): boolean => {
    const age = deps.now() - seen.at;
    // A clock that was set back makes nothing fresh for ever.
    if (age < 0) return false;
    return age < (seen.state === 'failed' ? failureKeptMs : cacheMs(backend.type));
  };

  /** A fresh answer, or null: then it has to be asked for. Asks nobody. */
  const fresh = (backend: BackendRow): Observation | null => {
    const missing = credentials(backend);
    if (missing.kind === 'missing') return { state: 'failed', failure: missing.failure, at: deps.now(), error: null };
    const seen = last(backend);
    return seen !== null && isFresh(backend, seen) ? seen : null;
  };

  const ask = async (backend: BackendRow, { timeoutMs, force }: ObserveOptions): Promise<Observation> => {
    const started = deps.now();
    const ready = credentials(backend);
    if (ready.kind === 'missing') return { state: 'failed', failure: ready.failure, at: started, error: null };
    if (backend.type === 'scripted') return readScript(backend, deps.workspace, started, force === true);
    if (!isProviderType(backend.type)) return unknownType(backend, started);
    const before = lastGood(backend);
    const target = targetOf(backend, ready, timeoutMs, before?.models ?? []);
    const answer = await discover(backend.type, target, closing.signal);
    const at = deps.now();
    if (!answer.ok) return { state: 'failed', failure: answer.failure, at, error: null };
    return {
      state: answer.complete ? 'listed' : 'open',
      // In the order in which the cache gives them back, so that every process sees the same list.
      models: [...answer.models].sort((one, other) => (one.name < other.name ? -1 : 1)),
      at,
      latencyMs: Math.max(0, at - started),
    };
  };

  /** The last list in the database, for a stale answer and for what need not be asked again. */
  const lastGood = (backend: BackendRow): Good | null => {
    const kept = memory.get(backend.id);
    if (kept?.source === sourceHash(backend) && kept.seen.state !== 'failed') return kept.seen;
    return readCache(deps.store.cached(backend.id), sourceHash(backend));
  };

  const keep = (backend: BackendRow, seen: Observation): void => {
    // An answer that our own closing cut short says nothing about the backend.
    if (closing.signal.aborted || (seen.state === 'failed' && seen.failure.class === 'cancelled')) return;
    const source = sourceHash(backend);
    if (backend.type !== 'scripted') memory.set(backend.id, { source, seen });
    // Backends without registration have no row to hang a cache on; for them these statements change nothing.
    if (seen.state !== 'failed' && cacheMs(backend.type) > 0) {
      deps.store.putCache(backend.id, source, cacheRows(seen), seen.at);
    }
    deps.store.putCheck({
      backend_id: backend.id,
      status: seen.state === 'failed' ? 'error' : 'ready',
      error_class: seen.state === 'failed' ? seen.failure.class : null,
      error: seen.state === 'failed' ? deps.secrets.mask(seen.failure.message) : null,
      checked_at: seen.at,
    });
  };

  /** Asks a backend, or gives its fresh answer. Never rejects. A question that is being asked is not asked twice. */
  const observe = async (backend: BackendRow, options: ObserveOptions): Promise<Observation> => {
    const known = options.force === true ? null : fresh(backend);
    if (known !== null) return known;
    const key = `${backend.id} ${sourceHash(backend)}`;
    const inFlight = running.get(key);
    if (inFlight !== undefined) return inFlight;
    const asked = ask(backend, options).then((seen) => {
      running.delete(key);
      try {
        keep(backend, seen);
      } catch {
        // A cache that cannot be written (a read-only or busy database) costs the next run a request, no more.
      }
      return seen;
    });
    running.set(key, asked);
    return asked;
  };

  return {
    observe,
    fresh,
    lastGood,
    credentials,
    targetOf,
    proxyOf,
    /** Ends every request that is still waited for. */
    close: () => closing.abort(),
  };
}

export type Observer = ReturnType<typeof createObserver>;

const cacheMs = (type: string): number => (isProviderType(type) ? providerTable[type].cacheMs : 0);

const unknownType = (backend: BackendRow, at: number): Observation => ({
  state: 'failed',
  failure: { class: 'unsupported', message: `backend "${backend.name}" has the unknown type ${backend.type}` },
  at,
  error: null,
});

/** @param inFull whoever asks whether it is usable hears of a defect in an expression too, which a list leaves alone */
async function readScript(backend: BackendRow, workspace: string, at: number, inFull: boolean): Promise<Observation> {
  const { checkScript, listScripted } = await import('../models/scripted.ts');
  try {
    if (inFull) await checkScript(backend.base_url, workspace);
    return { state: 'listed', models: await listScripted(backend.base_url, workspace), at, latencyMs: 0 };
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    const { code, message } = error;
    // Who names a model, or nothing at all, has named no backend: the sentence says whose script it is.
    const mend = `correct it, or name another file: reins backend update ${backend.name} --url <file>`;
    const text = `Backend "${backend.name}": ${message.replace(/\.$/, '')}; ${mend}`;
    const named = new RuntimeError(code, text, { cause: error });
    return { state: 'failed', failure: { class: 'invalid_request', message }, at, error: named };
  }
}

/** As it stands in a URL, and as it is meant. */
function spellings(password: string): readonly string[] {
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}
