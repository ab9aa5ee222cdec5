import type { Route } from '../schema/protocol.ts';
import type { ProviderType } from '../schema/registry.ts';
import { messageOf } from '../text/thrown.ts';
import { failure } from './failure.ts';
import type { DiscoverTarget, Discovery, Model } from './model.ts';
import { defaultDeps, failingModel, type WireDeps } from './wire-model.ts';

/** One provider type (08 §2.2). Its adapter is loaded when it is first used, so that a run loads one. */
export type Provider = {
  /** URL of a backend that is registered without one; null: required (for `local` the caller's default directory). */
  readonly defaultUrl: string | null;
  /** Appended to a URL that has no path. */
  readonly pathWhenNone: string;
  /** The variable that usually holds its key. */
  readonly keyVariable: string | null;
  readonly keyRequired: boolean;
  /** How long a list of its models stays fresh; 0 = not kept (08 §4.1). */
  readonly cacheMs: number;
  create(route: Route, deps: WireDeps): Promise<Model>;
  discover(target: DiscoverTarget, signal: AbortSignal): Promise<Discovery>;
};

const minute = 60_000;
const hour = 60 * minute;

const openAiCompatible = {
  create: async (route: Route, deps: WireDeps) =>
    (await import('./openai-compatible.ts')).createOpenAiCompatible(route, deps),
  discover: (type: ProviderType) => async (target: DiscoverTarget, signal: AbortSignal) =>
    (await import('./openai-models.ts')).discoverOpenAiCompatible(type, target, signal),
};

export const providerTable: Readonly<Record<ProviderType, Provider>> = {
  ollama: {
    defaultUrl: 'http://127.0.0.1:11434',
    pathWhenNone: '',
    keyVariable: 'OLLAMA_API_KEY',
    keyRequired: false,
    cacheMs: minute,
    create: async (route, deps) => (await import('./ollama.ts')).createOllama(route, deps),
    discover: async (target, signal) => (await import('./ollama-models.ts')).discoverOllama(target, signal),
  },
  openai: {
    defaultUrl: 'https://api.openai.com/v1',
    pathWhenNone: '/v1',
    keyVariable: 'OPENAI_API_KEY',
    keyRequired: true,
    cacheMs: hour,
    create: openAiCompatible.create,
    discover: openAiCompatible.discover('openai'),
  },
  vllm: {
    defaultUrl: null,
    pathWhenNone: '/v1',
    keyVariable: 'VLLM_API_KEY',
    keyRequired: false,
    cacheMs: minute,
    create: openAiCompatible.create,
    discover: openAiCompatible.discover('vllm'),
  },
  gemini: {
    defaultUrl: 'https://generativelanguage.googleapis.com',
    pathWhenNone: '',
    keyVariable: 'GEMINI_API_KEY',
    keyRequired: true,
    cacheMs: hour,
    create: async (route, deps) => (await import('./gemini.ts')).createGemini(route, deps),
    discover: async (target, signal) => (await import('./gemini-models.ts')).discoverGemini(target, signal),
  },
  anthropic: {
    defaultUrl: 'https://api.anthropic.com',
    pathWhenNone: '',
    keyVariable: 'ANTHROPIC_API_KEY',
    keyRequired: true,
    cacheMs: hour,
    create: async (route, deps) => (await import('./anthropic.ts')).createAnthropic(route, deps),
    discover: async (target, signal) => (await import('./anthropic-models.ts')).discoverAnthropic(target, signal),
  },
  'openai-compatible': {
    defaultUrl: null,
    pathWhenNone: '/v1',
    keyVariable: null,
    keyRequired: false,
    cacheMs: minute,
    create: openAiCompatible.create,
    discover: openAiCompatible.discover('openai-compatible'),
  },
  local: {
    defaultUrl: null,
    pathWhenNone: '',
    keyVariable: null,
    keyRequired: false,
    cacheMs: minute,
    create: async (route) => (await import('./local.ts')).createLocal(route),
    discover: async (target) => (await import('./local.ts')).discoverLocal(target),
  },
  scripted: {
    defaultUrl: 'builtin:demo',
    pathWhenNone: '',
    keyVariable: null,
    keyRequired: false,
    cacheMs: 0,
    create: async (route) => (await import('./scripted.ts')).createScripted(route),
    discover: discoverScripted,
  },
};

/** A script that cannot be read is thrown by its reader; here it is a failure like any other. */
async function discoverScripted(target: DiscoverTarget): Promise<Discovery> {
  try {
    const { listScripted } = await import('./scripted.ts');
    return { ok: true, models: await listScripted(target.base_url, target.workspace), complete: true };
  } catch (error) {
    const origin = { backend: target.backend ?? target.base_url, base_url: target.base_url, key: null, headers: {} };
    const reason = messageOf(error);
    return { ok: false, failure: failure(origin, 'invalid_request', reason) };
  }
}

/** Whether a backend's type is one that this program speaks to. */
export const isProviderType = (type: string): type is ProviderType => Object.hasOwn(providerTable, type);

/**
 * Makes the model of a route and loads its adapter. Rejects only where a script cannot be read (RuntimeError).
 * @param deps give the same to every model of a thread, so that what a server refused once is not tried again
 */
export async function createModel(route: Route, deps: WireDeps = defaultDeps()): Promise<Model> {
  if (isProviderType(route.type)) return providerTable[route.type].create(route, deps);
  return failingModel(failure(route, 'unsupported', `backend "${route.backend}" has the unknown type ${route.type}`));
}

/**
 * Lists the models of a backend, with what is known of each (08 §4). Never throws; on abort the failure is `cancelled`.
 * The whole takes at most `timeout_ms`.
 */
export function discoverModels(type: ProviderType, target: DiscoverTarget, signal: AbortSignal): Promise<Discovery> {
  return providerTable[type].discover(target, signal);
}
