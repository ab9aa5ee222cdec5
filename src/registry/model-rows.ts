import { hasCapability, type SeenModel } from '../models/resolve.ts';
import { capabilityNames, type ModelRow } from '../schema/registry.ts';
import type { Backend } from './backends.ts';

/** What a model can do, by the words of 06. */
export const capabilitiesOf = (model: SeenModel): Record<string, boolean> =>
  Object.fromEntries(capabilityNames.map((name) => [name, hasCapability(model, name)]));

/** One model in a listing. */
export const rowOf = (backend: Backend, model: SeenModel, isDefault: boolean): ModelRow => ({
  backend: backend.name,
  model: model.name,
  capabilities: capabilitiesOf(model),
  context: model.context,
  size_bytes: model.size_bytes ?? null,
  is_default: isDefault,
  state: model.origin === 'served' ? 'served' : 'declared',
  reason: null,
});

/** A backend in the place of its models. */
export const unreachable = (backend: string, reason: string): ModelRow => ({
  backend,
  model: '',
  capabilities: {},
  context: null,
  size_bytes: null,
  is_default: false,
  state: 'unreachable',
  reason,
});
