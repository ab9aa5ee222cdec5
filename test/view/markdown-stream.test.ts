import { describe, expect, it } from 'vitest';
import { textOf } from '../../src/view/line.ts';
import { createMarkdownStream } from '../../src/view/markdown-stream.ts';
import { columnsOf } from '../../src/view/wrap.ts';

const drawn = (text: string, columns = 60) =>
  createMarkdownStream({ columns, glyphs: 'unicode' }).lines(text).map(textOf);
const rows = (text: string, columns = 60) => drawn(text, columns).map((row) => row.trimEnd());

const everything = [
  '# Head of **it**\n\nSome **bold _both_** and `code`, a [link](https://x.example/a) and <b>tags</b>.',
  '- one\n  - two\n    goes on\n- [x] done\n- [ ] open\n\n1. first\n\n   with a paragraph\n2. second',
  '> quoted\n> twice\n\n---\n\nSetext\n===\n\n| a | right |\n|---|------:|\n| 1 | 22 |\n| 한글 | 👩‍👩‍👧 |',
  `\`\`\`ts\nconst a = 1;\n\treturn ${'x'.repeat(90)};\n\n\`\`\`\n\nafter 한글 é\n\n    indented\n\n[ref]: https://y.example\n[ref] stays`,
  'a\rb\r\nc\u001b[31m\u202e\u200b\ttab\n\n```\nopen fence\nwith *no* end',
].join('\n\n');

describe('markdown', () => {
  it('draws headings, emphasis, lists, quotes, tables and code', () => {
    expect(rows('# Head\n\nSome **bold** `code` [a](https://x.example).')).toEqual([
      '# Head',
      '',
      'Some bold code a (https://x.example).',
    ]);
    expect(rows('- one\n  - two\n- [x] done\n\n3. first\n4. second')).toEqual([
      '- one',
      '  - two',
      '- [x] done',
      '',
      '3. first',
      '4. second',
    ]);
    expect(rows('| a | n |\n|---|--:|\n| 1 | 22 |')).toEqual(['a   n', '─────', '1  22']);
    expect(rows('> said\n\n```ts\nx\n```')).toEqual(['│ said', '', '│ ts', '│ x']);
  });

  it('breaks code and marks where a row goes on, and lists a table that does not fit', () => {
    expect(rows(`\`\`\`\n${'x'.repeat(30)}\n\`\`\``, 20)).toEqual([`│ ${'x'.repeat(17)}\\`, `│ ${'x'.repeat(13)}`]);
    expect(rows('| name | text |\n|---|---|\n| one | a long cell |\n| two | b |', 16)).toEqual([
      'name: one',
      'text: a long',
      '  cell',
      '',
      'name: two',
      'text: b',
    ]);
  });

  it('makes visible what could move or hide, and takes nothing from what was written', () => {
    expect(rows('a\u001b[2Jb \u202ec\rd <script>')).toEqual(['a␛[2Jb ⟨U+202E⟩c␍d <script>']);
    expect(rows('![p](https://x.example/p.png) https://auto.example')).toEqual([
      '[image: p] (https://x.example/p.png) https://auto.example',
    ]);
  });

  it.each([20, 37, 60, 118])('is the same after every character as at once, in %i columns', (columns) => {
    const stream = createMarkdownStream({ columns, glyphs: 'unicode' });
    for (let end = 1; end <= everything.length; end += 1) {
      const part = everything.slice(0, end);
      const streamed = stream.lines(part).map(textOf);
      if (end % 17 === 0 || end === everything.length) expect(streamed).toEqual(drawn(part, columns));
    }
  });

  it('is never wider than its room', () => {
    for (const columns of [16, 20, 33, 80]) {
      for (const row of drawn(everything, columns))
        expect([row, columnsOf(row.trimEnd()) <= columns]).toEqual([row, true]);
    }
  });

  it('begins anew with another text', () => {
    const stream = createMarkdownStream({ columns: 40, glyphs: 'unicode' });
    stream.lines('first\n\nsecond\n\nthird');
    expect(stream.lines('other\n\ntext').map(textOf)).toEqual(['other', '', 'text']);
  });
});
