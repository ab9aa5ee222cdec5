import { describe, expect, it } from 'vitest';
import { createModel, providerTable } from '../../src/models/providers.ts';
import { collect, routeTo } from './wire-server.ts';

describe('the table of providers (08 §2.2)', () => {
  it('knows URL, path, key variable and need of a key for every type', () => {
    expect(
      Object.entries(providerTable).map(([type, entry]) => [
        type,
        entry.defaultUrl,
        entry.pathWhenNone,
        entry.keyVariable,
        entry.keyRequired,
        entry.cacheMs,
      ]),
    ).toEqual([
      ['ollama', 'http://127.0.0.1:11434', '', 'OLLAMA_API_KEY', false, 60_000],
      ['openai', 'https://api.openai.com/v1', '/v1', 'OPENAI_API_KEY', true, 3_600_000],
      ['vllm', null, '/v1', 'VLLM_API_KEY', false, 60_000],
      ['gemini', 'https://generativelanguage.googleapis.com', '', 'GEMINI_API_KEY', true, 3_600_000],
      ['anthropic', 'https://api.anthropic.com', '', 'ANTHROPIC_API_KEY', true, 3_600_000],
      ['openai-compatible', null, '/v1', null, false, 60_000],
      ['local', null, '', null, false, 60_000],
      ['scripted', 'builtin:demo', '', null, false, 0],
    ]);
  });

  it.each([
    ['local', 'unsupported', 'no embedded engine'],
    ['telepathy', 'unsupported', 'unknown type telepathy'],
  ])('answers a route of type %s with a failure of class %s', async (type, expected, text) => {
    const model = await createModel({ ...routeTo('/models', 'openai'), type });
    const parts = await collect(model);
    expect(parts).toMatchObject([{ kind: 'error', error: { class: expected } }]);
    expect(JSON.stringify(parts)).toContain(text);
    model.close();
  });

  it('answers an unreadable URL with a failure', async () => {
    const model = await createModel(routeTo('not a url', 'anthropic'));
    expect(await collect(model)).toMatchObject([{ kind: 'error', error: { class: 'invalid_request' } }]);
  });
});
