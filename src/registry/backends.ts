import { isUrl } from '../text/parse-url.ts';
import { stamp } from '../text/stamp.ts';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { providerTable } from '../models/providers.ts';
import { RuntimeError } from '../schema/errors.ts';
import { type BackendView, type ProviderType, providerTypes } from '../schema/registry.ts';
import type { BackendRow, Registry } from '../store/registry.ts';
import { isCredentialHeader } from '../tools/hooks/hook-service.ts';
import { ulid } from '../text/ids.ts';
import { quote } from '../text/quote.ts';
import { codeOf } from '../text/thrown.ts';
import { type BackendFields, checkFields, readHeaders } from './backend-fields.ts';
import { hintFor, shortReason } from './backend-hints.ts';
import type { Observer } from './observe.ts';
import type { RecordChange } from './ports.ts';
import type { Secrets } from './secrets.ts';
import { isLoopback, serverUrl, withArticle } from './urls.ts';

export type BackendsDeps = {
  readonly store: Registry;
  readonly secrets: Secrets;
  readonly observer: Observer;
  readonly record: RecordChange;
  readonly now: () => number;
  /** The path of a script is relative to `root`, that of a models directory to `cwd`. */
  readonly workspace: { readonly root: string; readonly cwd: string };
  /** User-level directory. */
  readonly home: string;
  /** The local model server of this invocation; `explicit` replaces every registered `ollama` backend (08 §2.4). */
  readonly ollama: { readonly url: string; readonly explicit: boolean };
};

/** A backend that can be asked: a registered one, or one that needs no registration. */
export type Backend = BackendRow & { readonly implicit: boolean };

type Changed = { readonly backend: BackendView; readonly warnings: readonly string[] };

const implicitId = 'implicit-ollama';
/** What a backend row holds that nobody has set up. */
export const nothingSet = {
  key_env: null,
  key_literal: null,
  headers: '{}',
  proxy: '',
  connect_timeout_ms: null,
  first_byte_timeout_ms: null,
  idle_timeout_ms: null,
  created_at: 0,
  updated_at: 0,
} as const;

export const demoId = 'builtin-demo';

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The registered backends and those that need no registration (08 §2). */
export function createBackends(deps: BackendsDeps) {
  const { store, secrets } = deps;

  const rows = (): readonly BackendRow[] => {
    const found = store.listBackends();
    // Every secret is known to the mask before anything is said about its backend, used or not (11 §5.3.1).
    for (const row of found) {
      if (row.key_literal !== null) secrets.register(`${row.name}.key`, row.key_literal);
      if (row.key_env !== null) secrets.read(row.key_env, `${row.name}.key`);
      for (const [name, value] of Object.entries(readHeaders(row))) secrets.expand(value, `${row.name}.${name}`);
    }
    return found;
  };
  const isType = (text: string): text is ProviderType => providerTypes.some((type) => type === text);
  const built = (id: string, name: string, type: ProviderType, url: string, implicit: boolean): Backend => ({
    id,
    name,
    type,
    base_url: url,
    ...nothingSet,
    implicit,
  });
  const demo = (): Backend => built(demoId, 'demo', 'scripted', 'builtin:demo', true);

  /** Every backend that a run could use, in no particular order. */
  const inUse = (): readonly Backend[] => {
    const registered = rows()
      .filter((row) => !(deps.ollama.explicit && row.type === 'ollama'))
      .map((row) => ({ ...row, implicit: false }));
    const localName = registered.some((row) => row.name === 'ollama') ? 'ollama-local' : 'ollama';
    const local = built(implicitId, localName, 'ollama', deps.ollama.url, !deps.ollama.explicit);
    const needsLocal = !registered.some((row) => row.type === 'ollama');
    return [
      ...registered,
      ...(deps.ollama.explicit || needsLocal ? [local] : []),
      // A registered backend of this name hides the built-in one.
      ...(registered.some((row) => row.name === 'demo') ? [] : [demo()]),
    ];
  };

  const find = (name: string): Backend => {
    const row = rows().find((candidate) => candidate.name === name);
    if (row !== undefined) return { ...row, implicit: false };
    if (name === 'demo') return demo();
    throw new RuntimeError('not_found', `There is no backend named "${name}".`, { hints: ['reins backend list'] });
  };

  const refuseBuiltIn = (backend: Pick<BackendRow, 'id'>, what: string): void => {
    if (backend.id !== demoId) return;
    throw new RuntimeError('usage', `The backend "demo" is built in and cannot be ${what}.`);
  };

  const view = (row: BackendRow): BackendView => {
    // Only types of the table are ever written; another one would be a newer program's.
    const type = isType(row.type) ? row.type : 'openai-compatible';
    const stampOf = (at: number): string | null => (at === 0 ? null : stamp(at));
    return {
      id: row.id,
      name: row.name,
      type,
      baseUrl: row.base_url,
      keySource: keySource(row),
      headers: Object.keys(readHeaders(row)),
      proxy: secrets.mask(row.proxy),
      timeouts: { connect: row.connect_timeout_ms, firstByte: row.first_byte_timeout_ms, idle: row.idle_timeout_ms },
      createdAt: stampOf(row.created_at),
      updatedAt: stampOf(row.updated_at),
      builtIn: row.id === demoId,
    };
  };

  const urlOf = (type: ProviderType, given: string | null): string => {
    const provider = providerTable[type];
    if ((type === 'local' || type === 'scripted') && given !== null && isUrl(given)) {
      const what = type === 'local' ? 'directory' : 'file';
      throw new RuntimeError(
        'usage',
        `"${given}" is a URL; --url of ${withArticle(type)} backend is the path of a ${what}.`,
      );
    }
    if (type === 'local') {
      const standard = join(deps.home, 'models');
      if (given !== null) return resolve(deps.workspace.cwd, given);
      if (existsSync(standard)) return standard;
    }
    const url = given ?? provider.defaultUrl;
    if (url === null || url === '') {
      const why = type === 'local' ? ` where there is no ${join(deps.home, 'models')}` : '';
      throw new RuntimeError('usage', `${withArticle(type)} backend needs --url${why}`, {
        hints: [`reins backend add <name> --type ${type} --url <url>`],
      });
    }
    if (type !== 'scripted') return serverUrl(type, url, provider.pathWhenNone);
    if (url.startsWith('builtin:') && url !== 'builtin:demo') {
      throw new RuntimeError('usage', `There is no built-in script "${url}"; the only one is builtin:demo.`);
    }
    return url;
  };

  /**
   * A script is read at each run (08 §6.1), so one that is not there yet is told and taken, as a variable is that is not
   * set; a file that is there and does not load is refused. @throws RuntimeError config_invalid
   */
  const scriptWarnings = async (row: BackendRow): Promise<string[]> => {
    if (row.type !== 'scripted') return [];
    const { checkScript } = await import('../models/scripted.ts');
    try {
      await checkScript(row.base_url, deps.workspace.root);
      return [];
    } catch (error) {
      if (!(error instanceof RuntimeError) || codeOf(error.cause) !== 'ENOENT') throw error;
      return [`${error.message.replace(/\.$/, '')}; it is read when the backend is used`];
    }
  };

  const refuseTwin = (row: BackendRow): void => {
    const twin = rows().find(
      (other) =>
        other.id !== row.id &&
        other.type === row.type &&
        other.base_url === row.base_url &&
        other.key_env === row.key_env &&
        other.key_literal === row.key_literal,
    );
    if (twin === undefined) return;
    throw new RuntimeError('already_exists', `The backend "${twin.name}" has the same type, URL and key already.`, {
      hints: [`reins backend show ${twin.name}`],
    });
  };

  const warningsOf = (row: BackendRow): string[] => {
    const warnings: string[] = [];
    const { keyRequired, keyVariable } = providerTable[view(row).type];
    const has = row.key_env !== null || row.key_literal !== null;
    if (row.key_literal !== null) {
      warnings.push('the key is stored in the database; --api-key-env <VAR> keeps only the name of a variable there');
    }
    if (row.key_env !== null && !secrets.isSet(row.key_env)) {
      warnings.push(`the variable ${row.key_env} is not set now; it is read when the backend is used`);
    }
    if (keyRequired && !has) {
      warnings.push(`no key is registered: reins backend update ${row.name} --api-key-env ${keyVariable ?? '<VAR>'}`);
    }
    if (has && row.base_url.startsWith('http://') && !isLoopback(row.base_url)) {
      warnings.push(`the key goes to ${new URL(row.base_url).host} without encryption, readable on the network`);
    }
    for (const [name, value] of Object.entries(readHeaders(row))) {
      if (isCredentialHeader(name) && !value.includes('${env:')) {
        warnings.push(`the value of header ${name} is stored in the database; write it as ${name}: \${env:NAME}`);
      }
    }
    return warnings;
  };

  const applied = (row: BackendRow, fields: BackendFields): BackendRow => {
    const { key_env, key_literal, headers, proxy } = fields;
    const type = view(row).type;
    const changesKey = key_env !== null || key_literal !== null;
    return {
      ...row,
      base_url: fields.url === null ? row.base_url : urlOf(type, fields.url),
      // An empty name takes the key away.
      key_env: changesKey ? (key_env === '' ? null : key_env) : row.key_env,
      key_literal: changesKey ? key_literal : row.key_literal,
      headers: headers === null ? row.headers : JSON.stringify(headers),
      proxy: proxy ?? row.proxy,
      connect_timeout_ms: fields.connect_timeout_ms ?? row.connect_timeout_ms,
      first_byte_timeout_ms: fields.first_byte_timeout_ms ?? row.first_byte_timeout_ms,
      idle_timeout_ms: fields.idle_timeout_ms ?? row.idle_timeout_ms,
      updated_at: deps.now(),
    };
  };

  return {
    /** @throws RuntimeError usage, already_exists, config_invalid. */
    async addBackend(input: BackendFields & { readonly name: string; readonly type: ProviderType }): Promise<Changed> {
      const { name, type } = input;
      if (!namePattern.test(name)) {
        throw new RuntimeError(
          'usage',
          `"${name}" is not a name of a backend: it begins with a letter or digit and has at most 64 letters, digits, ".", "_" and "-".`,
        );
      }
      checkFields(type, input);
      const now = deps.now();
      const { implicit: _none, ...fresh } = built(`b_${ulid(now)}`, name, type, urlOf(type, input.url), false);
      const empty: BackendRow = { ...fresh, created_at: now };
      const row = applied(empty, { ...input, url: null });
      if (store.findBackend(name) !== undefined) {
        throw new RuntimeError('already_exists', `A backend named "${name}" exists.`, {
          hints: [...changing(name, input), `reins backend show ${name}`],
        });
      }
      refuseTwin(row);
      const missing = await scriptWarnings(row);
      deps.record('registry_changed', { registry: 'backend', name, change: 'added' }, () => store.insertBackend(row));
      return { backend: view(row), warnings: [...missing, ...warningsOf(row)] };
    },

    /** Registered ones by name, then the built-in one. */
    async listBackends(_input: Readonly<Record<string, never>> = {}): Promise<BackendView[]> {
      const registered = rows();
      const hidden = registered.some((row) => row.name === 'demo');
      return [...registered, ...(hidden ? [] : [demo()])].map(view);
    },

    /** @throws RuntimeError not_found. */
    async showBackend(input: { readonly name: string }): Promise<BackendView> {
      return view(find(input.name));
    },

    /** Changes the given fields; headers are replaced as a whole. @throws RuntimeError not_found, usage, already_exists, config_invalid. */
    async updateBackend(input: BackendFields & { readonly name: string }): Promise<Changed> {
      const { implicit: _implicit, ...row } = find(input.name);
      refuseBuiltIn(row, 'changed');
      checkFields(view(row).type, input);
      const changed = applied(row, input);
      refuseTwin(changed);
      const missing = input.url === null ? [] : await scriptWarnings(changed);
      deps.record('registry_changed', { registry: 'backend', name: row.name, change: 'updated' }, () =>
        store.updateBackend(changed),
      );
      return { backend: view(changed), warnings: [...missing, ...warningsOf(changed)] };
    },

    /** With its declarations, cache and stored key. @throws RuntimeError not_found, usage for the built-in one. */
    async removeBackend(input: { readonly name: string }): Promise<null> {
      const backend = find(input.name);
      refuseBuiltIn(backend, 'removed');
      deps.record('registry_changed', { registry: 'backend', name: backend.name, change: 'removed' }, () =>
        store.deleteBackend(backend.id),
      );
      return null;
    },

    /** Asks the backend anew, for at most 5 s. A backend that fails is a result. @throws RuntimeError not_found. */
    async testBackend(input: { readonly name: string }) {
      const backend = find(input.name);
      const seen = await deps.observer.observe(backend, { timeoutMs: 5000, force: true });
      if (seen.state === 'failed') {
        return {
          reachable: false,
          chat_models: 0,
          models: 0,
          latency_ms: 0,
          error_class: seen.failure.class,
          error: shortReason(seen.failure.message),
          hint: hintFor(backend, seen.failure),
        };
      }
      return {
        reachable: true,
        chat_models: seen.models.filter((model) => model.capabilities.chat ?? true).length,
        models: seen.models.length,
        latency_ms: seen.latencyMs ?? 0,
        error_class: null,
        error: null,
        hint: null,
      };
    },

    inUse,
    /** The registered backends as rows; their secrets are known to the mask from then on. */
    registered: rows,
    find,
    view,
  };
}

export type Backends = ReturnType<typeof createBackends>;

/** Where the key of a backend comes from: `env:NAME`, `stored` or `none`; never the key. */
export const keySource = (row: Pick<BackendRow, 'key_env' | 'key_literal'>): string => {
  if (row.key_env !== null) return `env:${row.key_env}`;
  return row.key_literal === null ? 'none' : 'stored';
};

/** The line that brings what was given into a backend that is there; none where nothing was given that can be repeated. */
function changing(name: string, { url, key_env }: Pick<BackendFields, 'url' | 'key_env'>): readonly string[] {
  const flags = [
    ...(url === null ? [] : [`--url ${quote(url)}`]),
    ...(key_env === null ? [] : [`--api-key-env ${quote(key_env)}`]),
  ];
  return flags.length === 0 ? [] : [`reins backend update ${name} ${flags.join(' ')}`];
}
