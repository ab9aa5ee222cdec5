import type { Route } from '../schema/protocol.ts';
import { failure, type Origin } from './failure.ts';
import type { DiscoverTarget, Discovery, Model } from './model.ts';
import { failingModel } from './wire-model.ts';

/** A model file run by the embedded engine (08 §5.6), which this version does not have. */
export const createLocal = async (route: Route): Promise<Model> => failingModel(unsupported(route));

/** Lists nothing until an engine can run what is found. */
export async function discoverLocal(target: DiscoverTarget): Promise<Discovery> {
  const origin = { backend: target.backend ?? 'local', base_url: target.base_url, key: null, headers: {} };
  return { ok: false, failure: unsupported(origin) };
}

const unsupported = (origin: Origin) =>
  failure(
    origin,
    'unsupported',
    `backend "${origin.backend}" cannot run: this version of reins has no embedded engine; an ollama backend runs the same files`,
  );
