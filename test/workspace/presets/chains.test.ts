import { describe, expect, test } from 'vitest';
import { readChain } from '../../../src/chain/document.ts';
import { initialChains, isShippedChain, shippedChains } from '../../../src/workspace/presets/chains.ts';

describe('the shipped chains', () => {
  test.each(Object.entries(shippedChains))('%s has no finding at all', async (_, text) => {
    const { chain, findings } = await readChain(text, { providers: [] });
    expect(findings).toEqual([]);
    expect(chain).toEqual(JSON.parse(text));
  });

  test('have their ids, tasks and bounds', async () => {
    const outline = await Promise.all(
      Object.entries(shippedChains).map(async ([name, text]) => {
        const { chain } = await readChain(text);
        const bounds = chain?.tasks.flatMap(({ transition }) => transition?.branches ?? []);
        return [
          name,
          chain?.id,
          chain?.tasks.map(({ id }) => id).join(' '),
          bounds?.find(({ operator }) => operator === 'edge_traversed_at_least')?.when ?? null,
        ];
      }),
    );
    expect(outline).toEqual([
      ['default-chain.json', 'chain-chat', 'chat run_tools', null],
      ['default-run-chain.json', 'chain-run', 'work run_tools wrap_up', '200'],
      ['chain-planner.json', 'chain-planner', 'planner', null],
      ['chain-step-executor.json', 'chain-step-executor', 'brief step run_tools wrap_up', '40'],
      ['chain-step-summarizer.json', 'chain-step-summarizer', 'summarize persist repair persist_repair fallback', null],
      ['chain-plan-explorer.json', 'chain-plan-explorer', 'explore run_tools conclude', '20'],
    ]);
  });

  test('two of them are written by init', () => {
    expect(initialChains).toEqual(['default-chain.json', 'default-run-chain.json']);
  });

  test('are known by their file names only', () => {
    expect(isShippedChain('chain-planner.json')).toBe(true);
    expect(isShippedChain('toString')).toBe(false);
  });
});
