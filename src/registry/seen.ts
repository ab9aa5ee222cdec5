import type { DiscoveredModel } from '../models/model.ts';
import { sameName, type SeenBackend, type SeenModel } from '../models/resolve.ts';
import type { DeclarationRow } from '../store/registry.ts';
import type { Backend } from './backends.ts';
import { readCapabilities } from './model-cache.ts';
import type { Observation } from './observation.ts';

/** What is known of a backend, and whether it is only an older answer that a failed refresh left standing (08 §4.2). */
export type View = { readonly observation: Observation | null; readonly stale: boolean };

/** A backend as the choice of routes sees it: what it answered, with the declarations laid over it (08 §4.4). */
export function seenBackend(backend: Backend, view: View, declarations: readonly DeclarationRow[]): SeenBackend {
  const { observation } = view;
  const served = observation === null || observation.state === 'failed' ? [] : observation.models;
  const own = declarations.filter((row) => row.backend_id === backend.id);
  const general = declarations.filter((row) => row.backend_id === null);
  const models: SeenModel[] = served.map((model) => ({
    ...declared(backend.type, model, own, general),
    origin: 'served',
  }));
  const add = (rows: readonly DeclarationRow[], origin: 'declared' | 'anywhere'): void => {
    for (const row of rows) {
      if (models.some((model) => sameName(backend.type, model.name, row.model))) continue;
      const unknown: DiscoveredModel = { name: row.model, context: null, max_output: null, capabilities: {} };
      models.push({ ...declared(backend.type, unknown, own, general), origin });
    }
  };
  add(own, 'declared');
  add(general, 'anywhere');
  const about = { name: backend.name, type: backend.type, implicit: backend.implicit, models };
  if (observation === null) return { ...about, state: 'unknown' };
  if (observation.state !== 'failed') return { ...about, state: observation.state };
  const { class: errorClass, message } = observation.failure;
  return { ...about, state: 'failed', failure: { class: errorClass, message } };
}

/** A model with the fields that the operator declared; a declaration for this backend counts before a general one. */
function declared(
  type: string,
  model: DiscoveredModel,
  own: readonly DeclarationRow[],
  general: readonly DeclarationRow[],
): DiscoveredModel {
  const rows = [own, general]
    .map((list) => list.find((row) => sameName(type, row.model, model.name)))
    .filter((row) => row !== undefined);
  if (rows.length === 0) return model;
  let { capabilities } = model;
  for (const row of rows.toReversed()) capabilities = { ...capabilities, ...declaredCapabilities(row) };
  return {
    ...model,
    context: rows.find((row) => row.context !== null)?.context ?? model.context,
    max_output: rows.find((row) => row.max_output !== null)?.max_output ?? model.max_output,
    capabilities,
  };
}

/** The capabilities that a declaration speaks of; one that cannot be read speaks of none. */
export function declaredCapabilities(row: DeclarationRow): ReturnType<typeof readCapabilities> {
  try {
    return readCapabilities(JSON.parse(row.capabilities));
  } catch {
    return {};
  }
}

/** The declared context of a model on a backend; null when none is declared. */
export function declaredContext(
  backend: Backend,
  model: string,
  declarations: readonly DeclarationRow[],
): number | null {
  const found = (id: string | null): number | null =>
    declarations.find((row) => row.backend_id === id && sameName(backend.type, row.model, model))?.context ?? null;
  return found(backend.id) ?? found(null);
}
