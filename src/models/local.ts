import type { Route } from '../schema/protocol.ts';
import { failure, type Origin } from './failure.ts';
import type { DiscoverTarget, Discovery, Model } from './model.ts';
import { failingModel } from './wire-model.ts';

/** A model file run by the embedded engine, which is an optional installation (08 §5.6). */
export async function createLocal(route: Route): Promise<Model> {
  return failingModel(unsupported(route, await hasEngine()));
}

/** Lists nothing until the engine can run what is found. */
export async function discoverLocal(target: DiscoverTarget): Promise<Discovery> {
  const origin = { backend: target.backend ?? 'local', base_url: target.base_url, key: null, headers: {} };
  return { ok: false, failure: unsupported(origin, await hasEngine()) };
}

const unsupported = (origin: Origin, installed: boolean) =>
  failure(
    origin,
    'unsupported',
    installed
      ? `backend "${origin.backend}" cannot run: this version of reins has no embedded engine; register the model with an ollama backend`
      : `backend "${origin.backend}" needs the embedded engine, which is not installed: npm install node-llama-cpp`,
  );

async function hasEngine(): Promise<boolean> {
  const name: string = 'node-llama-cpp';
  try {
    await import(name);
    return true;
  } catch {
    return false;
  }
}
