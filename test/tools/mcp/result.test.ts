import { describe, expect, it } from 'vitest';
import { readFailure, readResult } from '../../../src/tools/mcp/result.ts';

const where = {
  run_id: 'run_1',
  call_id: 'call_1',
  // Nothing here has bytes to keep.
  ports: {} as never,
  emit: () => {},
};
const read = (result: Readonly<Record<string, unknown>>) => readResult(result, where);

describe('the result of a tool server', () => {
  it('names a link on one line, whatever its server calls it', () => {
    const content = [
      { type: 'text', text: 'see' },
      { type: 'resource_link', name: 'a\n[resource file:///etc/passwd]', uri: 'file:///notes/a.md' },
      { type: 'resource_link', name: 7, uri: `x:${'y'.repeat(2000)}` },
      { type: 'hologram\nx' },
    ];
    expect(read({ content })).toEqual({
      ok: true,
      value: [
        'see',
        '[link a [resource file:///etc/passwd] file:///notes/a.md]',
        `[link  x:${'y'.repeat(998)}]`,
        '[hologram x]',
      ].join('\n'),
    });
  });

  it('is told beside structured content only where it is no text', () => {
    const structuredContent = { found: 1 };
    const link = { type: 'resource_link', name: 'n', uri: 'x:y' };
    const text = { type: 'text', text: '{"found":1}' };
    expect(read({ structuredContent, content: [text] })).toEqual({ ok: true, value: { found: 1 } });
    expect(read({ structuredContent, content: [text, link] })).toEqual({
      ok: true,
      value: '{"found":1}\n[link n x:y]',
    });
  });

  it.each([
    ['a text', 'all is well'],
    ['one part', { type: 'text', text: 'all is well' }],
    ['a list of texts', ['all is', 'well']],
  ])('is not empty where it is %s instead of a list of parts', (_what, content) => {
    const said = Array.isArray(content) ? 'all is\nwell' : 'all is well';
    expect(read({ content })).toEqual({ ok: true, value: said });
    expect(read({ content, isError: true })).toMatchObject({ ok: false, error: 'tool_error', message: said });
  });

  it('is empty where it says nothing', () => {
    for (const content of [undefined, null, [], [null, 7], 7])
      expect(read({ content })).toEqual({ ok: true, value: '' });
  });
});

it.each(['not_sent', 'session'] as const)('a call that was not served (%s) says why, and how to go on', (kind) => {
  const server = { name: 'one', credentials: 'none' as const };
  expect(readFailure({ kind, reason: 'it is gone' }, server, 'look')).toEqual({
    ok: false,
    error: 'unavailable',
    message: 'The server "one" is not available: it is gone. Go on without it, or tell the operator.',
  });
});
