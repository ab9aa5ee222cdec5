import type { RuntimeClient } from '../src/client/operations.ts';
import { RuntimeError } from '../src/schema/errors.ts';
import { nearest } from '../src/text/nearest.ts';
import type { Doing, EffectGround } from './effect-ground.ts';
import { backendsText } from './overlays/list-views.ts';

/** What is done with models and the backends that serve them. */
export function modelEffects({
  attempt,
  say,
  dispatch,
  state,
  link,
}: EffectGround): Pick<Doing, 'load-models' | 'set-model' | 'test-backend'> {
  return {
    'load-models': () =>
      attempt(async (client) => {
        const { rows, notes } = await client.listModels({ backend: null, refresh: false });
        const open = state().overlays.find((overlay) => overlay.kind === 'models');
        if (open?.kind !== 'models') return;
        const { model } = state().facts;
        const at =
          open.query === ''
            ? Math.max(
                0,
                rows.findIndex((row) => row.model === model),
              )
            : open.at;
        dispatch({ type: 'overlay', overlay: { ...open, rows, notes, at } });
        // Asked behind the list, which does not wait for it.
        const { status } = await client.doctor({ probe: true, sources: false });
        const still = state().overlays.find((overlay) => overlay.kind === 'models');
        if (still?.kind === 'models')
          dispatch({ type: 'overlay', overlay: { ...still, backends: backendsText(status.backendChecks) } });
      }),
    'set-model': ({ name, backend, save }) =>
      attempt(async (client) => {
        if (backend === '') await checkServed(client, name);
        await link.useModel(name, backend);
        dispatch({ type: 'facts', facts: { model: name, backend: backend === '' ? null : backend } });
        dispatch({ type: 'no-banner', id: 'setup' });
        if (save) {
          await client.setConfig({ key: 'default-model', value: name });
          // The list under the question has done its work.
          dispatch({ type: 'no-overlays' });
        }
        say(save ? `${name} is the default model now` : `${name} answers from the next turn on, in this program`);
      }),
    'test-backend': ({ name }) =>
      attempt(async (client) => {
        const tested = await client.testBackend({ name });
        say(
          tested.reachable
            ? `${name} answers after ${tested.latency_ms} ms with ${tested.chat_models} models`
            : `${name}: ${tested.error ?? 'not reachable'}`,
          !tested.reachable,
        );
      }),
  };
}

/** A name that was typed. @throws RuntimeError not_found where no backend has it, and each says what it has */
async function checkServed(client: RuntimeClient, name: string): Promise<void> {
  const { rows, notes } = await client.listModels({ backend: null, refresh: false });
  // Two backends may serve one name.
  const served = [...new Set(rows.filter(({ state }) => state !== 'unreachable').map(({ model }) => model))];
  if (notes.length > 0 || served.some((model) => model === name || model === `${name}:latest`)) return;
  const near = nearest(name, served, 2, 1)[0];
  const hint = near === undefined ? `these are: ${served.slice(0, 5).join(', ')}` : `did you mean ${near}?`;
  throw new RuntimeError('not_found', `no backend serves "${name}"; ${hint}`);
}
