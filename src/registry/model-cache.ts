import { createHash } from 'node:crypto';
import type { Capability, DiscoveredModel } from '../models/model.ts';
import { capabilityNames } from '../schema/registry.ts';
import type { BackendRow, CachedModelRow } from '../store/registry.ts';
import type { Good } from './observation.ts';

/** Stored in place of a list that has no models: an empty list and a missing cache are different things. */
const noModels = '';

/** What a cached list is bound to: type, URL and where the key comes from (08 §4.1). */
export function sourceHash(backend: BackendRow): string {
  const { type, base_url, key_env, key_literal } = backend;
  return createHash('sha256')
    .update(JSON.stringify([type, base_url, key_env, key_literal]))
    .digest('hex');
}

/** The rows in which a list is kept. */
export const cacheRows = (seen: Good): { model: string; data: string }[] =>
  seen.models.length === 0 || seen.state === 'open'
    ? [{ model: noModels, data: JSON.stringify({ state: seen.state }) }]
    : seen.models.map((model) => ({ model: model.name, data: JSON.stringify(model) }));

/** Rows of one list; null when there are none, or one is of another source or does not parse. */
export function readCache(rows: readonly CachedModelRow[], source: string): Good | null {
  const [first] = rows;
  if (first === undefined) return null;
  const models: DiscoveredModel[] = [];
  for (const row of rows) {
    if (row.source_hash !== source) return null;
    const value = parse(row.data);
    if (value === null) return null;
    if (row.model === noModels) {
      return { state: value['state'] === 'open' ? 'open' : 'listed', models: [], at: row.fetched_at, latencyMs: null };
    }
    models.push(readModel(row.model, value));
  }
  return { state: 'listed', models, at: first.fetched_at, latencyMs: null };
}

function parse(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : null;
  } catch {
    return null;
  }
}

function readModel(name: string, value: Readonly<Record<string, unknown>>): DiscoveredModel {
  const tokens = (member: string): number | null => {
    const given = value[member];
    return typeof given === 'number' && given > 0 ? given : null;
  };
  const { capabilities, digest, size_bytes } = value;
  return {
    name,
    context: tokens('context'),
    max_output: tokens('max_output'),
    capabilities: readCapabilities(capabilities),
    ...(typeof digest === 'string' ? { digest } : {}),
    ...(typeof size_bytes === 'number' ? { size_bytes } : {}),
  };
}

/** The known capabilities of a JSON map; others are left out. */
export function readCapabilities(value: unknown): Readonly<Partial<Record<Capability, boolean>>> {
  if (typeof value !== 'object' || value === null) return {};
  const members = new Map(Object.entries(value));
  const found: Partial<Record<Capability, boolean>> = {};
  for (const name of capabilityNames) {
    const given = members.get(name);
    if (typeof given === 'boolean') found[name] = given;
  }
  return found;
}
