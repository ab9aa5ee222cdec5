import { capabilitiesOf, rowOf, unreachable } from './model-rows.ts';
import { defaultBackend, findModel, sameName, type SeenModel } from '../models/resolve.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { ModelDetail, ModelRow } from '../schema/registry.ts';
import type { Registry } from '../store/registry.ts';
import { quote } from '../text/quote.ts';
import { type Backend, type Backends, demoId, nothingSet } from './backends.ts';
import { createDeclarations, type Named } from './declarations.ts';
import { shortReason } from './backend-hints.ts';
import type { Observation } from './observation.ts';
import type { Observer } from './observe.ts';
import { createModelFiles } from './model-files.ts';
import type { RecordChange } from './ports.ts';
import { createRoutes } from './routes.ts';
import { declaredContext, seenBackend } from './seen.ts';
import type { Settings } from './settings.ts';

export type ModelsDeps = {
  readonly store: Registry;
  readonly backends: Backends;
  readonly observer: Observer;
  readonly settings: Settings;
  readonly record: RecordChange;
  readonly now: () => number;
  /** `--model` and `--provider`, or their variables; null = not given. */
  readonly given: { readonly model: Given | null; readonly provider: Given | null };
};

export type Given = { readonly value: string; readonly source: 'flag' | 'environment' };

export type Defaults = {
  readonly model: string;
  readonly modelSource: 'flag' | 'environment' | 'config' | 'script' | 'builtin';
  /** Empty = any. */
  readonly provider: string;
};

/** What a person asks about is asked anew with this limit; a listing waits as long as a run does. */
const listMs = 3000;

/** What the backends serve, and what the operator declared about it (08 §4, 06 §16). */
export function createModels(deps: ModelsDeps) {
  const { store, backends, observer, settings } = deps;
  const { routes } = createRoutes(deps);
  const files = createModelFiles(deps);
  const declaring = createDeclarations(deps);

  /**
   * The model and provider that count where nothing else is named (08 §3).
   * @throws RuntimeError config_invalid when none of the scripts that would name the model loads
   */
  const defaults = async (input: {
    readonly model: string | null;
    readonly provider: string | null;
  }): Promise<Defaults> => {
    const provider = input.provider ?? deps.given.provider?.value ?? settings.value('default-provider') ?? '';
    if (input.model !== null && input.model !== '') return { model: input.model, modelSource: 'flag', provider };
    const { model } = deps.given;
    if (model !== null) return { model: model.value, modelSource: model.source, provider };
    if (settings.isSet('default-model')) {
      return { model: settings.value('default-model'), modelSource: 'config', provider };
    }
    if (provider !== 'scripted') return { model: settings.value('default-model'), modelSource: 'builtin', provider };
    return { model: await scriptModel(), modelSource: 'script', provider };
  };

  /** The same to look at: no model is named where none of the scripts loads. Never rejects. */
  const shownDefaults = (model: string | null): Promise<Defaults> =>
    defaults({ model, provider: null }).catch(() => ({ model: '', modelSource: 'script', provider: 'scripted' }));

  /** The demo counts where no script is registered alone: it never stands in for one that does not load. */
  const scriptModel = async (): Promise<string> => {
    const scripted = backends.inUse().filter(({ type }) => type === 'scripted');
    const registered = scripted.filter(({ implicit }) => !implicit);
    const inOrder = (registered.length > 0 ? registered : scripted).sort((one, other) =>
      one.name < other.name ? -1 : 1,
    );
    let failed: Error | null = null;
    for (const backend of inOrder) {
      const seen = await observer.observe(backend, { timeoutMs: listMs });
      const [model] = seen.state === 'failed' ? [] : seen.models;
      if (model !== undefined) return model.name;
      if (seen.state === 'failed') failed ??= seen.error ?? new RuntimeError('config_invalid', seen.failure.message);
    }
    if (failed !== null) throw failed;
    return '';
  };

  /** The backends of a listing: registered ones, the demo when it is meant, the local server when it answers. */
  const listed = async (
    only: string | null,
    refresh: boolean,
    provider: string,
  ): Promise<{ backend: Backend; seen: Observation }[]> => {
    const wanted =
      only === null
        ? backends.inUse().filter(({ id }) => id !== demoId || provider === 'scripted')
        : [backends.inUse().find(({ name }) => name === only) ?? backends.find(only)];
    const asked = await Promise.all(
      wanted.map(async (backend) => ({
        backend,
        seen: await observer.observe(backend, { timeoutMs: listMs, force: refresh }),
      })),
    );
    // Nobody registered it: that it is not there is no row, but a footnote.
    return asked.filter(({ backend, seen }) => !backend.implicit || only !== null || seen.state !== 'failed');
  };

  return {
    routes,
    defaults,
    shownDefaults,

    /** One row per model and backend; a backend that does not answer is one row. @throws RuntimeError not_found. */
    async listModels(input: { readonly backend: string | null; readonly refresh: boolean }): Promise<{
      readonly rows: readonly ModelRow[];
      readonly notes: readonly string[];
      readonly answered: number;
      readonly backends: number;
    }> {
      const { model: defaultModel, provider } = await shownDefaults(null);
      const asked = await listed(input.backend, input.refresh, provider);
      const declarations = store.declarations();
      const rows: ModelRow[] = [];
      const notes: string[] = [];
      const views = asked.map(({ backend, seen }) =>
        seenBackend(backend, { observation: seen, stale: false }, declarations),
      );
      const starred = defaultBackend(defaultModel, provider, views);
      for (const [index, { backend, seen }] of asked.entries()) {
        const view = views[index];
        if (seen.state === 'failed') rows.push(unreachable(backend.name, shortReason(seen.failure.message)));
        if (seen.state === 'open') notes.push(`${backend.name} cannot list its models; any name is sent to it`);
        const served = (view?.models ?? []).filter(({ origin }) => origin !== 'anywhere');
        if (seen.state === 'listed' && served.length === 0) {
          const pull =
            backend.type === 'ollama' ? `: reins model pull ${quote(defaultModel)} --backend ${backend.name}` : '';
          notes.push(`${backend.name} answers and lists no models${pull}`);
        }
        for (const model of served) {
          const isDefault = backend.name === starred && sameName(backend.type, model.name, defaultModel);
          rows.push(rowOf(backend, model, isDefault));
        }
      }
      for (const row of declarations.filter(({ backend_id }) => backend_id === null)) {
        const served = rows.some(({ model }) => model === row.model || model === `${row.model}:latest`);
        if (served || input.backend !== null) continue;
        const seen = seenBackend(anyBackend, { observation: null, stale: false }, [row]).models[0];
        if (seen !== undefined) rows.push(rowOf(anyBackend, seen, row.model === defaultModel));
      }
      if (asked.length === 0)
        notes.push('no backend is registered and no local server answers: reins backend add local --type ollama');
      return {
        rows,
        notes,
        answered: asked.filter(({ seen }) => seen.state !== 'failed').length,
        backends: asked.length,
      };
    },

    /**
     * Removes the declaration; with `delete_file` also the model itself from the `ollama` backends that serve it.
     * @throws RuntimeError not_found when it is not declared, or the failure of a server that does not delete
     */
    async removeModel(
      input: Named & { readonly delete_file: boolean },
    ): Promise<{ readonly deleted_from: readonly string[] }> {
      const remove = declaring.removal(input);
      const deleted: string[] = [];
      if (input.delete_file) {
        const holders = backends
          .inUse()
          .filter(({ type, name }) => type === 'ollama' && (input.backend === null || name === input.backend));
        for (const holder of holders) if (await files.deleteFrom(holder, input.name)) deleted.push(holder.name);
      }
      remove();
      return { deleted_from: deleted };
    },

    /**
     * Models of local servers that nobody has declared, neither for their backend nor for all.
     * @param input `names` deletes exactly those of them; null only lists. @throws RuntimeError as a server that refuses
     */
    async pruneModels(input: {
      readonly backend: string | null;
      readonly names: readonly { readonly backend: string; readonly model: string }[] | null;
    }): Promise<{ readonly models: readonly { readonly backend: string; readonly model: string }[] }> {
      const { provider } = await defaults({ model: null, provider: null });
      const declarations = store.declarations();
      const spare = (await listed(input.backend, true, provider)).flatMap(({ backend, seen }) =>
        backend.type !== 'ollama' || seen.state !== 'listed'
          ? []
          : seen.models
              .filter(
                ({ name: model }) =>
                  !declarations.some(
                    (row) =>
                      (row.backend_id === null || row.backend_id === backend.id) &&
                      sameName('ollama', row.model, model),
                  ),
              )
              .map((model) => ({ backend, model: model.name })),
      );
      const chosen = input.names;
      const doomed =
        chosen === null
          ? spare
          : spare.filter(({ backend, model }) =>
              chosen.some((one) => one.backend === backend.name && one.model === model),
            );
      if (chosen !== null) for (const { backend, model } of doomed) await files.deleteFrom(backend, model);
      return { models: doomed.map(({ backend, model }) => ({ backend: backend.name, model })) };
    },

    /** @throws RuntimeError not_found when no backend serves it and nobody declared it. */
    async showModel(input: Named): Promise<ModelDetail> {
      const { provider } = await defaults({ model: null, provider: null });
      const asked = await listed(input.backend, false, provider);
      const declarations = store.declarations();
      const holders = asked.flatMap(({ backend, seen }) => {
        const { models } = seenBackend(backend, { observation: seen, stale: false }, declarations);
        const model = findModel(
          backend.type,
          models.filter(({ origin }) => origin !== 'anywhere'),
          input.name,
        );
        return model === undefined ? [] : [{ backend, seen, model }];
      });
      const general = declarations.find((row) => row.backend_id === null && row.model === input.name);
      const [first] = holders;
      if (first === undefined && general === undefined) {
        throw new RuntimeError('not_found', `No backend serves the model "${input.name}", and it is not declared.`, {
          hints: ['reins model list --refresh'],
        });
      }
      const model: SeenModel | undefined =
        first?.model ??
        seenBackend(anyBackend, { observation: null, stale: false }, general === undefined ? [] : [general]).models[0];
      if (model === undefined) throw new TypeError('a declaration is always seen');
      const found = first === undefined ? null : discoveredContext(first.backend, first.seen, model.name);
      const declared = declaredContext(first?.backend ?? anyBackend, model.name, declarations);
      return {
        model: model.name,
        capabilities: capabilitiesOf(model),
        context: { discovered: found, declared, effective: declared ?? found },
        max_output: model.max_output,
        size_bytes: model.size_bytes ?? null,
        digest: model.digest ?? null,
        backends: holders.map(({ backend }) => backend.name),
      };
    },

    addModel: declaring.addModel,
    setModelContext: declaring.setModelContext,
    pullModel: files.pullModel,

    /** @throws RuntimeError usage for a name, and where no backend can pull it; not_found for the backend */
    checkPull: files.checkPull,
  };
}

export type Models = ReturnType<typeof createModels>;

/** Stands for "any backend" where a declaration names none. */
const anyBackend: Backend = {
  id: '',
  name: '-',
  type: '',
  base_url: '',
  ...nothingSet,
  implicit: true,
};

function discoveredContext(backend: Backend, seen: Observation, name: string): number | null {
  if (seen.state === 'failed') return null;
  return findModel(backend.type, seen.models, name)?.context ?? null;
}
