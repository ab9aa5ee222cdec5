import { describe, expect, it } from 'vitest';
import { blocksOf } from '../../web/parts/markdown-blocks.ts';

describe('the blocks of a text', () => {
  it('end at a blank line, outside of fences and lists', () => {
    expect(blocksOf('one\n\n- two\n\n  more of two\n\n```\na\n\nb\n```\n\nlast')).toEqual([
      'one\n',
      '- two\n\n  more of two\n',
      '```\na\n\nb\n```\n',
      'last',
    ]);
  });

  it('are read with the addresses and notes that they name, and with no others', () => {
    const text = [
      'See [here][One  Two] and [there].',
      'Nothing is named here.',
      'A claim.[^a]',
      '[one two]: https://x.test/1 "First"\n[there]: <https://x.test/2>\n[unused]: https://x.test/3',
      '[^a]: A note on [there]\n\n    with more to it.',
      '[there]: https://x.test/second',
    ].join('\n\n');
    const blocks = blocksOf(text);
    expect(blocks.slice(0, 3)).toEqual([
      '[one two]: https://x.test/1 "First"\n\n[there]: <https://x.test/2>\n\nSee [here][One  Two] and [there].\n',
      'Nothing is named here.\n',
      '[^a]: A note on [there]\n\n    with more to it.\n\n\n[there]: <https://x.test/2>\n\nA claim.[^a]\n',
    ]);
  });

  it('take no text for an address that Markdown takes for text', () => {
    for (const other of ['a line\n[x]: https://x.test/', '```\n[x]: https://x.test/\n```', '[x]: this is prose'])
      expect(blocksOf(`about [x]\n\n${other}`)[0]).toBe('about [x]\n');
  });

  it('stay as they are while text with definitions grows behind them', () => {
    const head = '[a]: https://x.test/a\n\nFirst [a].\n\nSecond [b].\n\n';
    const before = blocksOf(`${head}Third`);
    const after = blocksOf(`${head}Third grows.\n\n[b]: https://x.test/b`);
    expect(after[1]).toBe(before[1]);
    expect([before[2], after[2]]).toEqual(['Second [b].\n', '[b]: https://x.test/b\n\nSecond [b].\n']);
  });
});
