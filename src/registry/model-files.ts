import type { ModelFailure } from '../models/model.ts';
import { sameName } from '../models/resolve.ts';
import { RuntimeError } from '../schema/errors.ts';
import { quote } from '../text/quote.ts';
import { checkName } from './model-words.ts';
import type { Backend, Backends } from './backends.ts';
import type { Observer } from './observe.ts';

const listMs = 3000;
const connectMs = 10_000;
const deleteMs = 60_000;

/** What is to be downloaded: `url` and `sha256` are of local model files. */
export type PullWanted = {
  readonly name: string;
  readonly backend: string | null;
  readonly url: string | null;
  readonly sha256: string | null;
};

/** Model files on local servers: download and delete (06 §16). */
export function createModelFiles(deps: { readonly backends: Backends; readonly observer: Observer }) {
  const { backends, observer } = deps;
  return {
    /** Whether somebody can download this. @throws RuntimeError usage, not_found for the backend */
    checkPull: (input: PullWanted): void => void pullBackend(backends, input),

    /**
     * Lets an `ollama` backend download a model. On abort the server stops.
     * @throws RuntimeError usage for another type, cancelled, or the failure of the server
     */
    async pullModel(
      input: PullWanted,
      onProgress: (progress: {
        readonly status: string;
        readonly completed: number | null;
        readonly total: number | null;
      }) => void,
      signal: AbortSignal,
    ): Promise<{ readonly bytes: number | null; readonly present: boolean }> {
      const backend = pullBackend(backends, input);
      const ready = observer.credentials(backend);
      if (ready.kind === 'missing') throw new RuntimeError('auth', ready.failure.message);
      const { pullOllama } = await import('../models/ollama-models.ts');
      const pulled = await pullOllama(
        observer.targetOf(backend, ready, connectMs, []),
        input.name,
        (progress) =>
          onProgress({
            status: progress.status,
            completed: progress.total_bytes === 0 ? null : progress.completed_bytes,
            total: progress.total_bytes === 0 ? null : progress.total_bytes,
          }),
        signal,
      );
      if (!pulled.ok) throw notPulled(backend, input, pulled.failure);
      // So that the next run finds it.
      await observer.observe(backend, { timeoutMs: listMs, force: true });
      return { bytes: pulled.size_bytes === 0 ? null : pulled.size_bytes, present: !pulled.downloaded };
    },

    /** @returns false when the server does not have the model. @throws RuntimeError when it refuses or does not answer */
    async deleteFrom(backend: Backend, name: string): Promise<boolean> {
      const seen = await observer.observe(backend, { timeoutMs: listMs, force: true });
      if (seen.state === 'failed' && backend.implicit) return false;
      if (seen.state === 'listed' && !seen.models.some((model) => sameName('ollama', model.name, name))) return false;
      const ready = observer.credentials(backend);
      if (ready.kind === 'missing') throw new RuntimeError('auth', ready.failure.message);
      const { deleteOllama } = await import('../models/ollama-models.ts');
      const target = observer.targetOf(backend, ready, connectMs, []);
      const result = await deleteOllama(target, name, AbortSignal.timeout(deleteMs));
      if (result.ok) {
        await observer.observe(backend, { timeoutMs: listMs, force: true });
        return true;
      }
      if (result.failure.class === 'model_not_found') return false;
      throw new RuntimeError('model_unavailable', result.failure.message);
    },
  };
}

/** Classes of a server that nobody reached, or that wants something else than another try. */
const notReached: ReadonlySet<string> = new Set(['connect', 'auth', 'permission', 'invalid_request']);

/** What ended a download, with what mends it: a server that was reached goes on with what it has of the model. */
function notPulled(backend: Backend, { name, backend: named }: PullWanted, failure: ModelFailure): RuntimeError {
  const { message } = failure;
  if (failure.class === 'cancelled') return new RuntimeError('cancelled', message);
  if (failure.class === 'model_not_found') {
    const where = `There is no model "${name}" to download; the names: https://ollama.com/library (${message})`;
    return new RuntimeError('model_unavailable', where);
  }
  if (notReached.has(failure.class)) {
    const look = backend.implicit ? 'reins doctor' : `reins backend test ${backend.name}`;
    return new RuntimeError('model_unavailable', message, { hints: [look] });
  }
  const again = `reins model pull ${quote(name)}${named === null ? '' : ` --backend ${quote(named)}`}`;
  return new RuntimeError('model_unavailable', `${message}; what the server has of the model stays`, {
    hints: [again],
  });
}

function pullBackend(backends: Backends, { name: model, backend: name, url, sha256 }: PullWanted): Backend {
  checkName(model);
  const found =
    name === null
      ? backends
          .inUse()
          .filter(({ type }) => type === 'ollama')
          .sort((one, other) => (one.name < other.name ? -1 : 1))[0]
      : (backends.inUse().find((backend) => backend.name === name) ?? backends.find(name));
  if (found === undefined || found.type !== 'ollama') {
    throw new RuntimeError(
      'usage',
      `Only an ollama backend can pull a model${name === null ? '' : `; "${name}" is none`}.`,
    );
  }
  if (url !== null || sha256 !== null) {
    throw new RuntimeError('usage', '--url and --sha256 are for local model files; an ollama server pulls by name.');
  }
  return found;
}
