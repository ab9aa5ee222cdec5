import { describe, expect, it } from 'vitest';
import type { Session, SessionMessage } from '../../src/schema/session.ts';
import { markdownHead, markdownMessage } from '../../src/view/session-document.ts';

const message = (over: Partial<SessionMessage>): SessionMessage => ({
  seq: 1,
  id: 'm1',
  role: 'user',
  kind: 'message',
  status: 'complete',
  text: '',
  thinking: null,
  tool_calls: [],
  tool_call_id: null,
  run_id: null,
  error: null,
  created_at: '2026-01-02T03:04:05.000Z',
  ...over,
});
const session: Session = {
  id: 's1',
  name: 'work',
  active: true,
  message_count: 1,
  created_at: '2026-01-02T03:04:05.000Z',
  last_message_at: null,
  preview: '',
  forked_from: null,
  active_run_id: null,
  suspended_run_id: null,
};
const body = (over: Partial<SessionMessage>): string =>
  markdownMessage(message(over))
    .replace(/^\n## .*\n/, '')
    .slice(1, -1);

describe('a session as Markdown', () => {
  it('begins with its name and times', () => {
    expect(markdownHead(session)).toBe('# work\n\ncreated 2026-01-02T03:04:05.000Z\n');
  });

  it('has a heading for each message, its thoughts quoted and its calls as JSON', () => {
    const calls = [
      { id: 'c1', name: 'local_fs.read_file', arguments: '{"path":"a"}' },
      { id: 'c2', name: 'x', arguments: '{"path' },
    ];
    expect(
      markdownMessage(
        message({
          role: 'assistant',
          text: 'I look.\n\n',
          thinking: 'Hm.\n\nSo.',
          tool_calls: calls,
          status: 'partial',
        }),
      ),
    ).toBe(`
## assistant · 2026-01-02T03:04:05.000Z · partial

> Hm.
>
> So.

I look.

\`\`\`json
{
  "id": "c1",
  "name": "local_fs.read_file",
  "arguments": {
    "path": "a"
  }
}
\`\`\`

\`\`\`json
{
  "id": "c2",
  "name": "x",
  "arguments": "{\\"path"
}
\`\`\`
`);
    expect(markdownMessage(message({ kind: 'note', role: 'assistant', text: 'interrupted' }))).toBe(
      '\n## note · 2026-01-02T03:04:05.000Z\n\ninterrupted\n',
    );
  });

  it('keeps what a tool gave in a block that nothing in it can end', () => {
    expect(body({ role: 'tool', text: '# a\n````\nb' })).toBe('`````text\n# a\n````\nb\n`````');
  });

  it('shows what would move a cursor or hide text', () => {
    expect(body({ text: 'a\u001b[2Jb\u202e' })).toBe('a␛[2Jb⟨U+202E⟩');
    expect(body({ tool_calls: [{ id: 'c', name: 'x', arguments: '"\u202e"' }] })).toContain('"⟨U+202E⟩"');
    expect(markdownHead({ ...session, name: 'a\u001bb' })).toContain('# a␛b\n');
  });

  it('LLM-005: lets no message pass for another one', () => {
    expect(body({ text: 'a\n## user · now\n## Users\n  # tool · x' })).toBe(
      'a\n\\## user · now\n## Users\n  \\# tool · x',
    );
    expect(body({ text: '```js\nlet a' })).toBe('```js\nlet a\n```');
    expect(body({ text: '~~~~\n```\n~~~' })).toBe('~~~~\n```\n~~~\n~~~~');
    expect(body({ text: '```\na\n```\nb ```c``` d' })).toBe('```\na\n```\nb ```c``` d');
  });
});
