import { describe, expect, it } from 'vitest';
import type { DiscoveredModel } from '../../src/models/model.ts';
import {
  type Resolution,
  resolveRoutes,
  type SeenBackend,
  type SeenModel,
  type Wanted,
} from '../../src/models/resolve.ts';

const wanted = (rest: Partial<Wanted> = {}): Wanted => ({
  types: [],
  defaultType: '',
  models: ['m'],
  needs: ['chat'],
  tokens: 0,
  allow: { models: [], backends: [] },
  ...rest,
});

const model = (
  name: string,
  rest: Partial<DiscoveredModel> = {},
  origin: SeenModel['origin'] = 'served',
): SeenModel => ({ name, context: null, max_output: null, capabilities: {}, origin, ...rest });

const backend = (
  name: string,
  type: string,
  models: readonly SeenModel[],
  rest: Partial<SeenBackend> = {},
): SeenBackend => ({ name, type, implicit: false, state: 'listed', models, ...rest });

const failed = (name: string, type: string): SeenBackend =>
  backend(name, type, [], { state: 'failed', failure: { class: 'connect', message: `${name}: connection refused` } });

const unknown = (name: string, type: string, models: readonly SeenModel[] = []): SeenBackend =>
  backend(name, type, models, { state: 'unknown' });

/** Candidates as `backend/model`, in order. */
const chosen = (resolution: Resolution): readonly string[] => {
  if (resolution.kind !== 'candidates') throw new Error(`no candidates: ${JSON.stringify(resolution)}`);
  return resolution.candidates.map((one) => `${one.backend}/${one.model}`);
};

describe('the order of backends', () => {
  it('is by type and then by name, whatever order they come in', () => {
    const all = [
      backend('z', 'vllm', [model('m')]),
      backend('b', 'ollama', [model('m')]),
      backend('a', 'openai', [model('m')]),
      backend('a2', 'ollama', [model('m')]),
      backend('B', 'ollama', [model('m')]),
    ];
    const order = ['B/m', 'a2/m', 'b/m', 'a/m', 'z/m'];
    for (let turn = 0; turn < all.length; turn += 1) {
      all.push(...all.splice(0, 1));
      expect(chosen(resolveRoutes(wanted(), all))).toEqual(order);
    }
  });

  it('puts the default provider first, wanted types in their order, implicit ones last', () => {
    const all = [
      backend('local', 'ollama', [model('m')], { implicit: true }),
      backend('o', 'openai', [model('m')]),
      backend('v', 'vllm', [model('m')]),
    ];
    expect(chosen(resolveRoutes(wanted({ defaultType: 'vllm' }), all))).toEqual(['v/m', 'o/m', 'local/m']);
    expect(chosen(resolveRoutes(wanted({ types: ['ollama', 'vllm', 'openai'] }), all))).toEqual([
      'v/m',
      'o/m',
      'local/m',
    ]);
    expect(chosen(resolveRoutes(wanted({ types: ['vllm'] }), all))).toEqual(['v/m']);
  });

  it('has a scripted backend only where it is asked for by name', () => {
    const all = [backend('demo', 'scripted', [model('m')], { implicit: true })];
    expect(resolveRoutes(wanted(), all)).toEqual({ kind: 'none_registered' });
    expect(chosen(resolveRoutes(wanted({ types: ['scripted'] }), all))).toEqual(['demo/m']);
    expect(chosen(resolveRoutes(wanted({ defaultType: 'scripted' }), all))).toEqual(['demo/m']);
  });
});

describe('the demo', () => {
  const demo = backend('demo', 'scripted', [model('m')], { implicit: true });

  it('never plays for a registered script that does not load', () => {
    const types = ['scripted'];
    const broken = failed('s', 'scripted');
    expect(resolveRoutes(wanted({ types }), [broken, demo])).toEqual({ kind: 'nothing_known', failed: [broken] });
    expect(chosen(resolveRoutes(wanted({ types }), [failed('o', 'ollama'), demo]))).toEqual(['demo/m']);
    // Nobody asked for a script that the policy leaves out.
    const allow = { models: [], backends: ['demo'] };
    expect(chosen(resolveRoutes(wanted({ types, allow }), [unknown('s', 'scripted'), demo]))).toEqual(['demo/m']);
  });
});

describe('names', () => {
  const two = [backend('local', 'ollama', [model('qwen2.5:7b'), model('qwen2.5:14b')])];

  it('are matched exactly, never by another tag', () => {
    expect(chosen(resolveRoutes(wanted({ models: ['qwen2.5:14b'] }), two))).toEqual(['local/qwen2.5:14b']);
    expect(resolveRoutes(wanted({ models: ['qwen2.5:3b'] }), two)).toEqual({
      kind: 'nothing_suitable',
      dropped: [],
      served: ['local/qwen2.5:7b', 'local/qwen2.5:14b'],
      failed: [],
    });
  });

  it('go in the order wanted, each through all backends', () => {
    const all = [
      backend('a', 'ollama', [model('y')]),
      backend('b', 'ollama', [model('x'), model('y')]),
      backend('c', 'ollama', [model('x')]),
    ];
    expect(chosen(resolveRoutes(wanted({ models: ['x', 'y'] }), all))).toEqual(['b/x', 'c/x', 'a/y', 'b/y']);
  });

  it('without a tag mean latest, for ollama only', () => {
    expect(chosen(resolveRoutes(wanted(), [backend('a', 'ollama', [model('m:latest')])]))).toEqual(['a/m:latest']);
    expect(resolveRoutes(wanted(), [backend('a', 'vllm', [model('n:latest')])]).kind).toBe('nothing_suitable');
  });

  it('are relaxed only when no backend has any wanted name exactly, and the choice says so', () => {
    const all = [backend('a', 'vllm', [model('org/Qwen-2.5_7B:q4')]), backend('b', 'vllm', [model('qwen 2.5 7b')])];
    const relaxed = resolveRoutes(wanted({ models: ['Qwen2.5-7b:q4'] }), all);
    expect(relaxed).toMatchObject({
      candidates: [
        { backend: 'a', model: 'org/Qwen-2.5_7B:q4', substitutedFor: 'Qwen2.5-7b:q4' },
        { backend: 'b', model: 'qwen 2.5 7b', substitutedFor: 'Qwen2.5-7b:q4' },
      ],
    });
    expect(resolveRoutes(wanted({ models: ['qwen2.5-7b:q8'] }), [all[0] ?? unknown('', '')]).kind).toBe(
      'nothing_suitable',
    );
    const exact = [...all, backend('c', 'vllm', [model('other')])];
    expect(chosen(resolveRoutes(wanted({ models: ['Qwen2.5-7b:q4', 'other'] }), exact))).toEqual(['c/other']);
  });

  it('match anything on a backend that cannot list', () => {
    const all = [backend('a', 'openai-compatible', [], { state: 'open' })];
    expect(chosen(resolveRoutes(wanted({ models: ['whatever'] }), all))).toEqual(['a/whatever']);
  });
});

describe('allowlists', () => {
  const all = [backend('a', 'vllm', [model('m')]), backend('b', 'vllm', [model('m')])];

  it('drop backends by exact name', () => {
    const only = (backends: readonly string[]) => resolveRoutes(wanted({ allow: { models: [], backends } }), all);
    expect(chosen(only(['b']))).toEqual(['b/m']);
    expect(only(['B'])).toEqual({ kind: 'not_allowed', list: 'backendAllowlist' });
  });

  it('drop models by the name that would be sent, before anybody is asked', () => {
    const only = (models: readonly string[], backends: readonly SeenBackend[] = all) =>
      resolveRoutes(wanted({ allow: { models, backends: [] } }), backends);
    expect(chosen(only(['m', 'n']))).toEqual(['a/m', 'b/m']);
    expect(only(['n'], [unknown('a', 'vllm')])).toEqual({ kind: 'not_allowed', list: 'modelAllowlist' });
    expect(only(['M'])).toEqual({ kind: 'not_allowed', list: 'modelAllowlist' });
    // A relaxed choice is subject to the list again.
    expect(chosen(only(['M'], [backend('a', 'vllm', [model('M')])]))).toEqual(['a/M']);
    expect(only(['m'], [backend('a', 'vllm', [model('M')])])).toEqual({ kind: 'not_allowed', list: 'modelAllowlist' });
  });
});

describe('needs', () => {
  it('drop models that are known to lack something, and say what', () => {
    const all = [
      backend('a', 'vllm', [model('m', { capabilities: { tools: false } })]),
      backend('b', 'vllm', [model('m', { context: 4096 })]),
      backend('c', 'vllm', [model('m', { capabilities: { chat: false } })]),
    ];
    expect(resolveRoutes(wanted({ needs: ['chat', 'tools'], tokens: 5000 }), all)).toEqual({
      kind: 'nothing_suitable',
      dropped: [
        { backend: 'a', model: 'm', reason: 'no tools' },
        { backend: 'b', model: 'm', reason: 'context' },
        { backend: 'c', model: 'm', reason: 'no chat' },
      ],
      served: ['a/m', 'b/m'],
      failed: [],
    });
  });

  it('take what is unknown as chat and tools, never as vision; unknown context passes', () => {
    const all = [backend('a', 'vllm', [model('m')])];
    expect(chosen(resolveRoutes(wanted({ needs: ['chat', 'tools'], tokens: 1_000_000 }), all))).toEqual(['a/m']);
    expect(resolveRoutes(wanted({ needs: ['chat', 'vision'] }), all)).toMatchObject({
      dropped: [{ reason: 'no vision' }],
    });
  });

  it('do not send a fallback by a relaxed name where the exact one lacks something', () => {
    const all = [
      backend('a', 'vllm', [model('m', { capabilities: { tools: false } })]),
      backend('b', 'vllm', [model('M')]),
    ];
    expect(resolveRoutes(wanted({ needs: ['chat', 'tools'] }), all).kind).toBe('nothing_suitable');
  });
});

describe('what is not known yet', () => {
  it('is asked only where it could stand before the first candidate', () => {
    const all = [unknown('a', 'ollama'), backend('b', 'ollama', [model('m')]), unknown('c', 'ollama')];
    expect(resolveRoutes(wanted(), all)).toEqual({ kind: 'ask', backends: ['a'] });
    expect(chosen(resolveRoutes(wanted(), [failed('a', 'ollama'), ...all.slice(1)]))).toEqual(['b/m']);
  });

  it('is asked everywhere while there is no candidate, the implicit ones last', () => {
    const implicit = backend('ollama', 'ollama', [], { state: 'unknown', implicit: true });
    const all = [unknown('a', 'vllm'), failed('b', 'vllm'), unknown('c', 'vllm'), implicit];
    expect(resolveRoutes(wanted(), all)).toEqual({ kind: 'ask', backends: ['a', 'c'] });
    expect(resolveRoutes(wanted(), [failed('a', 'vllm'), implicit])).toEqual({ kind: 'ask', backends: ['ollama'] });
  });

  it('is asked for an earlier wish although a later one is there', () => {
    const all = [backend('a', 'vllm', [model('second')]), unknown('b', 'vllm')];
    expect(resolveRoutes(wanted({ models: ['first', 'second'] }), all)).toEqual({ kind: 'ask', backends: ['b'] });
  });

  const whole = { context: 9000, capabilities: { tools: true } };

  it('is not asked where the model is declared for that backend', () => {
    const all = [unknown('a', 'vllm', [model('m', whole, 'declared')]), unknown('b', 'vllm')];
    expect(chosen(resolveRoutes(wanted(), all))).toEqual(['a/m']);
  });

  it.each([{ context: 9000 }, { capabilities: { tools: true } }, {}])(
    'is asked for what is not declared: %j',
    (part) => {
      for (const origin of ['declared', 'anywhere'] as const) {
        const alone = [unknown('a', 'vllm', [model('m', part, origin)])];
        expect(resolveRoutes(wanted(), alone)).toEqual({ kind: 'ask', backends: ['a'] });
      }
      const down = { ...failed('a', 'vllm'), models: [model('m', part, 'declared')] };
      expect(chosen(resolveRoutes(wanted(), [down]))).toEqual(['a/m']);
    },
  );

  it('is asked for a model declared for any backend only where there is a choice', () => {
    const anywhere = [model('m', whole, 'anywhere')];
    expect(chosen(resolveRoutes(wanted(), [unknown('a', 'vllm', anywhere)]))).toEqual(['a/m']);
    const both = [unknown('a', 'vllm', anywhere), unknown('b', 'vllm', anywhere)];
    expect(resolveRoutes(wanted(), both)).toEqual({ kind: 'ask', backends: ['a', 'b'] });
    const listed = [backend('a', 'vllm', anywhere), backend('b', 'vllm', [model('m')])];
    expect(chosen(resolveRoutes(wanted(), listed))).toEqual(['b/m']);
    const nowhere = [backend('a', 'vllm', anywhere), failed('b', 'vllm')];
    expect(chosen(resolveRoutes(wanted(), nowhere))).toEqual(['a/m']);
  });
});

describe('failures', () => {
  it('are told apart: none registered, nobody answered, nothing fits', () => {
    expect(resolveRoutes(wanted({ types: ['gemini'] }), [backend('a', 'vllm', [model('m')])])).toEqual({
      kind: 'none_registered',
    });
    expect(resolveRoutes(wanted(), [failed('a', 'vllm'), failed('b', 'vllm')])).toMatchObject({
      kind: 'nothing_known',
      failed: [{ name: 'a' }, { name: 'b' }],
    });
    expect(resolveRoutes(wanted(), [failed('a', 'vllm'), backend('b', 'vllm', [model('x')])])).toMatchObject({
      kind: 'nothing_suitable',
      served: ['b/x'],
      failed: [{ name: 'a' }],
    });
  });

  it('name at most ten dropped candidates', () => {
    const all = Array.from({ length: 12 }, (_, index) =>
      backend(`b${index}`, 'vllm', [model('m', { capabilities: { chat: false } })]),
    );
    const resolution = resolveRoutes(wanted(), all);
    expect(resolution.kind === 'nothing_suitable' && resolution.dropped.length).toBe(10);
  });
});
