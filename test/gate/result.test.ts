import { expect, it } from 'vitest';
import { parsed } from '../../src/gate/entries.ts';
import { capResult, resultText, shallowResult } from '../../src/gate/result.ts';

const keep = (kept: string[]) => (whole: string) => {
  kept.push(whole);
  return { name: '@output/call_1', truncated: false };
};

it('gives text as it is, nothing for null, and compact JSON for the rest', () => {
  expect(resultText({ ok: true, value: 'a\n' })).toBe('a\n');
  expect(resultText({ ok: true, value: null })).toBe('');
  expect(resultText({ ok: true, value: { a: [1, 2] } })).toBe('{"a":[1,2]}');
  expect(resultText({ ok: false, error: 'not_found', message: 'No file.', extra: { similar: ['b'] } })).toBe(
    '{"ok":false,"error":"not_found","message":"No file.","similar":["b"]}',
  );
});

it('does not hand on a value that is nested so deep that whoever walks it would fall over', () => {
  const shallow = { ok: true, value: JSON.parse(`${'['.repeat(400)}${']'.repeat(400)}`) } as const;
  expect(shallowResult(shallow)).toBe(shallow);
  const nested = (most: unknown, levels: number): unknown => (levels === 0 ? most : nested([most], levels - 1));
  const deep = `${'['.repeat(1000)}${']'.repeat(1000)}`;
  expect(shallowResult({ ok: true, value: JSON.parse(deep) })).toEqual({ ok: true, value: deep });
  // Nothing that comes as JSON, and it cannot be written as such either; so it is where a version of Node falls over.
  expect(shallowResult({ ok: true, value: nested(1n, 600) })).toEqual({
    ok: false,
    error: 'tool_error',
    message: 'The tool was run, but its result is nested deeper than 500 levels and cannot be read.',
  });
});

it('keeps as text what no column of the database could hold as an object', () => {
  const nested = (levels: number) => `{"ok":${'['.repeat(levels)}"]\\"]"${']'.repeat(levels)}}`;
  expect(parsed(nested(3))).toEqual({ ok: [[[']"]']]] });
  expect(parsed(nested(5000))).toBe(nested(5000));
});

it('makes text well-formed before a model sees it', () => {
  expect(resultText({ ok: true, value: 'a\u0000b\ud800c' })).toBe('a\ufffdb\ufffdc');
});

it('keeps the first fifth and the last four fifths of a long text at line ends, and spools the whole', () => {
  const kept: string[] = [];
  const text = Array.from({ length: 1000 }, (_, index) => `line ${String(index).padStart(4, '0')}\n`).join('');
  const rendered = capResult(text, true, 1000, keep(kept));
  expect(kept).toEqual([text]);
  expect(rendered.truncated).toBe(true);
  expect(rendered.content.length).toBeLessThanOrEqual(1000);
  expect(rendered.bytes).toBe(10_000);
  expect(rendered.output_ref).toBe('@output/call_1');
  const lines = rendered.content.split('\n');
  expect(lines.slice(0, 2)).toEqual(['line 0000', 'line 0001']);
  expect(lines.at(-2)).toBe('line 0999');
  const marker = lines.find((line) => line.startsWith('[…')) ?? '';
  expect(marker).toMatch(
    /^\[… \d+ bytes left out; full result: @output\/call_1 \(10000 bytes, sha256 [0-9a-f]{64}\)\]$/,
  );
  const shown = lines.filter((line) => line.startsWith('line ')).length;
  expect(marker).toContain(`${10_000 - shown * 10} bytes left out`);
});

it('says exactly how many bytes it leaves out, also where no line ends near the cut', () => {
  const { content } = capResult('x'.repeat(10_000), true, 1000, keep([]));
  const [first = '', marker = '', last = ''] = content.split('\n');
  expect(`${first}${last}`).toMatch(/^x+$/);
  expect(marker).toContain(`[… ${10_000 - first.length - last.length} bytes left out;`);
});

it('says that a text it cut could not be kept, or only a part of it', () => {
  const text = 'x'.repeat(2000);
  const none = () => ({ name: null, fault: 'in /x: no room' });
  expect(capResult(text, true, 1000, none)).toMatchObject({ truncated: true, output_ref: null });
  expect(capResult(text, true, 1000, none).content).toMatch(/bytes left out; the full result could not be kept\]$/m);
  const part = () => ({ name: '@output/call_1', truncated: true });
  expect(capResult(text, true, 1000, part).content).toMatch(/sha256 [0-9a-f]{64}, kept in part\)\]$/m);
});

it('never cuts a character in two', () => {
  const text = '€'.repeat(2000);
  const { content } = capResult(text, true, 1000, keep([]));
  expect(content).not.toContain('\ufffd');
  expect(Buffer.byteLength(content)).toBeLessThanOrEqual(1000);
});

it('turns a long JSON value into a preview that names the whole', () => {
  const text = JSON.stringify({ list: 'x'.repeat(5000) });
  const { content } = capResult(text, false, 1024, keep([]));
  const value: unknown = JSON.parse(content);
  expect(value).toMatchObject({ ok: true, truncated: true, bytes: text.length, output: '@output/call_1' });
});
