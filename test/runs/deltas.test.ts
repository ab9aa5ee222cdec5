import { describe, expect, it } from 'vitest';
import { createMaskStream } from '../../src/registry/mask-stream.ts';
import { createDeltas } from '../../src/runs/deltas.ts';
import type { EngineEvent } from '../../src/schema/event.ts';

type Chunk = Extract<EngineEvent, { kind: 'step_chunk' }>;

describe('deltas on their way out', () => {
  it('publish what is held back of reasoning before the text behind it, and the other way round', () => {
    const published: (readonly [string, string])[] = [];
    const deltas = createDeltas(
      () =>
        createMaskStream(
          () => ['sk-12345678'],
          (text) => text.replaceAll('sk-12345678', '•••'),
        ),
      ({ content, thinking }) => published.push(content === undefined ? ['thinks', thinking ?? ''] : ['says', content]),
    );
    const take = (body: Pick<Chunk, 'content' | 'thinking'>) =>
      deltas.take({ kind: 'step_chunk', task_id: 't', task_handler: 'chat_completion', attempt: 1, index: 0, ...body });
    take({ thinking: 'two words' });
    take({ content: 'the key is sk-1234' });
    take({ content: '5678 as' });
    take({ thinking: 'more' });
    deltas.end();
    expect(published).toEqual([
      ['thinks', 'two word'],
      ['thinks', 's'],
      ['says', 'the key is '],
      ['says', '••• a'],
      ['says', 's'],
      ['thinks', 'more'],
    ]);
  });
});
