import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BackendRow, createRegistry, type DeclarationRow, type Registry } from '../../src/store/registry.ts';
import { createSettings } from '../../src/store/settings.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { openIn, tenant } from './open.ts';

let temp: TempHome;
let store: OpenedStore;
let registry: Registry;
beforeEach(async () => {
  temp = tempHome();
  store = await openIn(temp);
  registry = createRegistry(store.sql, tenant);
});
afterEach(() => {
  store.close();
  temp.remove();
});

const local: BackendRow = {
  id: 'b1',
  name: 'local',
  type: 'ollama',
  base_url: 'http://127.0.0.1:11434',
  key_env: null,
  key_literal: null,
  headers: '{"X-A":"1"}',
  proxy: '',
  connect_timeout_ms: null,
  first_byte_timeout_ms: 5000,
  idle_timeout_ms: null,
  created_at: 1,
  updated_at: 1,
};
const declared: DeclarationRow = {
  backend_id: 'b1',
  model: 'qwen',
  context: 32768,
  max_output: null,
  capabilities: '{"tools":true}',
  source_url: null,
  sha256: null,
  created_at: 1,
  updated_at: 1,
};

describe('settings', () => {
  it('are set, overwritten, listed by prefix and removed, per tenant', () => {
    const settings = createSettings(store.sql, tenant);
    const others = createSettings(store.sql, 'another-tenant');
    settings.set('config.b', '"1"', 1);
    settings.set('config.a', '"x"', 2);
    settings.set('config.b', '"2"', 3);
    settings.set('configuration', '1', 3);
    others.set('config.b', '"theirs"', 3);
    expect(settings.get('config.b')).toBe('"2"');
    expect(settings.get('config.c')).toBeNull();
    expect(settings.list('config.')).toEqual([
      { key: 'config.a', value: '"x"' },
      { key: 'config.b', value: '"2"' },
    ]);
    expect(settings.delete('config.b')).toBe(true);
    expect(settings.delete('config.b')).toBe(false);
    expect(others.get('config.b')).toBe('"theirs"');
  });

  it('refuse what is not JSON', () => {
    expect(() => createSettings(store.sql, tenant).set('a', 'text', 1)).toThrow(/CHECK constraint failed/);
  });
});

describe('backends', () => {
  it('come back as they were stored, sorted by name, in their tenant only', () => {
    registry.insertBackend(local);
    registry.insertBackend({ ...local, id: 'b2', name: 'cloud', key_env: 'CLOUD_KEY' });
    expect(registry.listBackends().map((row) => row.name)).toEqual(['cloud', 'local']);
    expect(registry.findBackend('local')).toEqual(local);
    expect(registry.findBackend('none')).toBeUndefined();
    const others = createRegistry(store.sql, 'another-tenant');
    expect(others.listBackends()).toEqual([]);
    expect(others.updateBackend({ ...local, base_url: 'http://evil' })).toBe(false);
    expect(others.deleteBackend('b1')).toBe(false);
  });

  it('have unique names and at most one key', () => {
    registry.insertBackend(local);
    let error: unknown;
    try {
      registry.insertBackend({ ...local, id: 'b2' });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'already_exists', message: 'A backend named "local" exists already.' });
    const both = { ...local, id: 'b3', name: 'both', key_env: 'A', key_literal: 'b' };
    expect(() => registry.insertBackend(both)).toThrow(/CHECK constraint failed/);
  });

  it('are changed as a whole, but keep id and creation time', () => {
    registry.insertBackend(local);
    const changed = { ...local, base_url: 'http://other', key_literal: 'secret', updated_at: 9 };
    expect(registry.updateBackend({ ...changed, created_at: 5 })).toBe(true);
    expect(registry.findBackend('local')).toEqual(changed);
  });

  it('take declarations, cache and check with them', () => {
    registry.insertBackend(local);
    registry.putDeclaration(declared);
    registry.putDeclaration({ ...declared, backend_id: null });
    registry.putCache('b1', 'hash', [{ model: 'qwen', data: '{}' }], 7);
    registry.putCheck({ backend_id: 'b1', status: 'ready', error_class: null, error: null, checked_at: 8 });
    expect(registry.deleteBackend('b1')).toBe(true);
    expect(registry.declarations().map((row) => row.backend_id)).toEqual([null]);
    expect(registry.cached('b1')).toEqual([]);
    expect(registry.checks()).toEqual([]);
  });
});

describe('what is known of models', () => {
  it('is declared once per backend and model, and once without a backend', () => {
    registry.insertBackend(local);
    registry.putDeclaration(declared);
    registry.putDeclaration({ ...declared, backend_id: null, context: 1 });
    registry.putDeclaration({ ...declared, backend_id: null, context: 2, created_at: 50, updated_at: 60 });
    expect(registry.declarations()).toEqual([{ ...declared, backend_id: null, context: 2, updated_at: 60 }, declared]);
    expect(registry.deleteDeclaration(null, 'qwen')).toBe(1);
    expect(registry.deleteDeclaration(null, 'qwen')).toBe(0);
    expect(registry.declarations()).toEqual([declared]);
  });

  it('is cached as a whole list per backend', () => {
    registry.insertBackend(local);
    const models = [
      { model: 'b', data: '{"n":1}' },
      { model: 'a', data: '{}' },
    ];
    registry.putCache('b1', 'h1', models, 7);
    registry.putCache('b1', 'h2', models.slice(0, 1), 8);
    expect(registry.cached('b1')).toEqual([{ model: 'b', source_hash: 'h2', data: '{"n":1}', fetched_at: 8 }]);
    createRegistry(store.sql, 'another-tenant').putCache('b1', 'h3', [], 9);
    expect(registry.cached('b1')).toHaveLength(1);
  });

  it('holds the last check of a backend', () => {
    registry.insertBackend(local);
    registry.putCheck({ backend_id: 'b1', status: 'error', error_class: 'auth', error: 'no', checked_at: 8 });
    registry.putCheck({ backend_id: 'b1', status: 'ready', error_class: null, error: null, checked_at: 9 });
    expect(registry.checks()).toEqual([
      { backend_id: 'b1', status: 'ready', error_class: null, error: null, checked_at: 9 },
    ]);
  });
});
