import { createHash } from 'node:crypto';
import { RuntimeError } from '../schema/errors.ts';
import type { BackendCheck, BackendView, ModelRow, ProviderType, SetupStatus } from '../schema/registry.ts';
import type { BackendRow } from '../store/registry.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { checkMatch } from '../schema/match.ts';
import { type BackendFields, readHeaders } from './backend-fields.ts';
import { type Backends, demoId } from './backends.ts';
import type { Models } from './models.ts';

export type BackendRouteDeps = {
  readonly backends: Backends;
  readonly models: Models;
  /** Readiness with the last known state of every backend. */
  readonly status: () => Promise<SetupStatus>;
  /** Starts the run that downloads a model; resolves with its id. */
  readonly startPull: (model: string, backend: string | null) => Promise<string>;
  /** Whether a variable is set now. */
  readonly isSet: (variable: string) => boolean;
};

/** What a request sets; what is absent stays (09 §6.9). */
type Settable = {
  readonly base_url?: string | undefined;
  readonly api_key_env?: string | undefined;
  readonly api_key?: string | undefined;
  readonly headers?: Readonly<Record<string, string | null>> | undefined;
  readonly proxy?: string | undefined;
  readonly connect_timeout_ms?: number | null | undefined;
  readonly first_byte_timeout_ms?: number | null | undefined;
  readonly idle_timeout_ms?: number | null | undefined;
};
type Named = { readonly name: string };
type Match = { readonly if_match?: string | undefined };

/** The operations of `client/routes/backends.ts`. No value of a key or header leaves through them. */
export function createBackendRoutes(deps: BackendRouteDeps) {
  const { backends, models } = deps;

  const stateOf = (view: BackendView, checks: readonly BackendCheck[]) => {
    const row = backends.find(view.name);
    const check = checks.find(({ id }) => id === view.id);
    return {
      id: view.id,
      name: view.name,
      type: view.type,
      base_url: view.baseUrl,
      key_source: view.keySource,
      key_present: row.key_env === null ? row.key_literal !== null : deps.isSet(row.key_env),
      headers: view.headers,
      proxy: view.proxy,
      connect_timeout_ms: view.timeouts.connect,
      first_byte_timeout_ms: view.timeouts.firstByte,
      idle_timeout_ms: view.timeouts.idle,
      status: check?.status ?? ('pending' as const),
      error_class: check?.errorClass ?? null,
      error: check?.error ?? null,
      hint: check?.hint ?? null,
      model_count: check?.modelCount ?? 0,
      latency_ms: check?.latencyMs ?? null,
      created_at: view.createdAt,
      updated_at: view.updatedAt,
      etag: etagOf(row),
    };
  };
  const checks = async (): Promise<readonly BackendCheck[]> => (await deps.status()).backendChecks;
  const state = async (name: string) => stateOf(await backends.showBackend({ name }), await checks());

  const modelOf = async (backend: string | null, model: string) => {
    const { rows } = await models.listModels({ backend: null, refresh: false });
    const found = rows.find((row) => row.model === model && (backend === null || row.backend === backend));
    return found === undefined ? declaredOnly(backend, model) : listed(found);
  };
  const known = (backend: string): string | null => (backend === anyBackend ? null : backend);

  return {
    async pageBackends() {
      const known = await checks();
      return (await backends.listBackends()).map((view) => stateOf(view, known));
    },

    getBackend: ({ name }: Named) => state(name),

    async createBackend({ name, type, ...settable }: Named & { readonly type: ProviderType } & Settable) {
      await backends.addBackend({ name, type, ...fieldsOf(settable, {}) });
      return state(name);
    },

    /** @throws RuntimeError precondition_failed when the registration is another one now */
    async patchBackend({ name, if_match, ...settable }: Named & Match & Settable) {
      const row = backends.find(name);
      checkMatch(etagOf(row), if_match);
      await backends.updateBackend({ name, ...fieldsOf(settable, readHeaders(row)) });
      return state(name);
    },

    async deleteBackend({ name, if_match }: Named & Match): Promise<null> {
      checkMatch(etagOf(backends.find(name)), if_match);
      return backends.removeBackend({ name });
    },

    async checkBackend({ name }: Named) {
      await backends.testBackend({ name });
      return state(name);
    },

    async pageModels({
      backend,
      refresh,
    }: {
      readonly backend?: string | undefined;
      readonly refresh?: boolean | undefined;
    }) {
      const { rows } = await models.listModels({ backend: backend ?? null, refresh: refresh === true });
      return {
        items: rows.filter(({ state }) => state !== 'unreachable').map(listed),
        errors: rows
          .filter(({ state }) => state === 'unreachable')
          .map(({ backend: name, reason }) => ({ backend: name, message: reason ?? 'it did not answer' })),
      };
    },

    async declareModel(wanted: {
      readonly backend?: string | undefined;
      readonly model: string;
      readonly context?: number | undefined;
      readonly max_output?: number | undefined;
      readonly capabilities?: Readonly<Record<string, boolean>> | undefined;
    }) {
      const { backend, model, context, max_output, capabilities } = wanted;
      await models.addModel({
        name: model,
        backend: backend ?? null,
        context: context ?? null,
        max_output: max_output ?? null,
        capabilities: Object.entries(capabilities ?? {}).map(([name, can]) => (can ? name : `no-${name}`)),
        url: null,
        sha256: null,
      });
      return modelOf(backend ?? null, model);
    },

    /** @throws RuntimeError unprocessable where the backend cannot, not_found for the backend, and as a run that cannot start */
    async postPull(wanted: {
      readonly backend?: string | undefined;
      readonly model: string;
      readonly url?: string | undefined;
      readonly sha256?: string | undefined;
    }) {
      const { backend = null, model, url = null, sha256 = null } = wanted;
      try {
        models.checkPull({ name: model, backend, url, sha256 });
      } catch (error) {
        if (!(error instanceof RuntimeError) || error.code !== 'usage') throw error;
        throw new RuntimeError('unprocessable', error.message, { cause: error });
      }
      return { run_id: await deps.startPull(model, backend) };
    },

    /** Sets the context; 0 takes it back. `-` stands for any backend. */
    async patchModel(wanted: { readonly backend: string; readonly model: string; readonly context: number }) {
      const { backend, model, context } = wanted;
      await models.setModelContext({ name: model, backend: known(backend), context });
      return modelOf(known(backend), model);
    },

    async deleteModel(wanted: {
      readonly backend: string;
      readonly model: string;
      readonly delete_file?: boolean | undefined;
    }): Promise<null> {
      const { backend, model, delete_file } = wanted;
      await models.removeModel({ name: model, backend: known(backend), delete_file: delete_file === true });
      return null;
    },
  };
}

/** How listings name what belongs to no backend. */
const anyBackend = '-';

const listed = ({ backend, model, context, capabilities, is_default }: ModelRow) => ({
  backend,
  model,
  context_length: context,
  can_chat: capabilities['chat'] === true,
  can_embed: capabilities['embed'] === true,
  can_tools: capabilities['tools'] === true,
  is_default,
});

const declaredOnly = (backend: string | null, model: string) => ({
  backend: backend ?? anyBackend,
  model,
  context_length: null,
  can_chat: true,
  can_embed: false,
  can_tools: false,
  is_default: false,
});

/** A digest of everything that is registered, its secrets included: it tells a change and nothing of them. */
function etagOf(row: BackendRow): string {
  if (row.id === demoId) return 'builtin';
  const { id, name, type, base_url, key_env, key_literal, headers, proxy, updated_at } = row;
  const times = [row.connect_timeout_ms, row.first_byte_timeout_ms, row.idle_timeout_ms];
  const text = canonicalJson([id, name, type, base_url, key_env, key_literal, headers, proxy, updated_at, times]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** @throws RuntimeError invalid_parameter for a header that keeps a value which is not there */
function fieldsOf(wanted: Settable, stored: Readonly<Record<string, string>>): BackendFields {
  const headers = wanted.headers;
  const kept =
    headers === undefined
      ? null
      : Object.fromEntries(
          Object.entries(headers).map(([name, value]) => {
            const held = value ?? stored[name];
            if (held !== undefined) return [name, held];
            throw new RuntimeError('invalid_parameter', `There is no stored value of the header ${name} to keep.`, {
              data: { param: `headers.${name}` },
            });
          }),
        );
  return {
    url: wanted.base_url ?? null,
    key_env: wanted.api_key_env ?? null,
    key_literal: wanted.api_key ?? null,
    headers: kept,
    proxy: wanted.proxy ?? null,
    connect_timeout_ms: wanted.connect_timeout_ms ?? null,
    first_byte_timeout_ms: wanted.first_byte_timeout_ms ?? null,
    idle_timeout_ms: wanted.idle_timeout_ms ?? null,
  };
}
