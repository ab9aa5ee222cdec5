import { describe, expect, it } from 'vitest';
import type { EventBody, RunEvent } from '../../src/schema/event.ts';
import { noUsage } from '../../src/schema/message.ts';
import type { SessionMessage } from '../../src/schema/session.ts';
import { batchLine, foldableBatch } from '../../src/view/batch.ts';
import { itemLines } from '../../src/view/item-lines.ts';
import type { Item } from '../../src/view/items.ts';
import { textOf } from '../../src/view/line.ts';
import { createMarkdownStream } from '../../src/view/markdown-stream.ts';
import { lastTurns, plainLines } from '../../src/view/plain-lines.ts';
import { storedItems } from '../../src/view/stored-items.ts';
import { emptyCall, emptyTranscript, reduceTranscript } from '../../src/view/transcript.ts';

let seq = 0;
const event = (body: EventBody, timestamp = '2026-01-05T10:00:00.000Z'): RunEvent => ({
  v: 1,
  seq: body.kind === 'step_chunk' || body.kind === 'tool_output' ? 0 : ++seq,
  timestamp,
  run_id: 'run_1',
  session_id: 's',
  chain_id: 'c',
  ...body,
});
const task = { task_id: 't', task_handler: 'chat_completion', attempt: 1 } as const;
const chunk = (content: string) => event({ ...task, kind: 'step_chunk', content, index: 0 });
const message = (role: 'user' | 'assistant', content: string, more: object = {}) =>
  event({ ...task, kind: 'message', number: 1, message: { id: `m${content}`, role, content, timestamp: '', ...more } });
const callId = { call_id: 'call_1', tools: 'local_shell', tool: 'local_shell' } as const;
const policy = { name: 'default', sha256: null };

const fold = (...events: readonly RunEvent[]) => reduceTranscript(emptyTranscript, events).items;
const look = (columns = 80, opened = false) => ({
  columns,
  glyphs: 'unicode' as const,
  opened,
  collapse: 3,
  now: Date.parse('2026-01-05T10:00:05.000Z'),
  markdown: (_id: string, text: string, width: number) =>
    createMarkdownStream({ columns: width, glyphs: 'unicode' }).lines(text),
});
/** A stored message of a run, but for what a test says of it. */
const stored: SessionMessage = {
  seq: 1,
  id: '1',
  role: 'assistant',
  kind: 'message',
  status: 'complete',
  text: '',
  thinking: null,
  tool_calls: [],
  tool_call_id: null,
  run_id: 'r',
  error: null,
  created_at: '',
};
const rows = (item: Item | undefined, columns = 80, opened = false) =>
  item === undefined ? [] : itemLines(item, look(columns, opened)).map((line) => textOf(line).trimEnd());

describe('the transcript of events', () => {
  it('joins pieces into one text, and takes the whole message over them', () => {
    const streaming = fold(message('user', 'hi'), chunk('Hel'), chunk('lo'));
    expect(streaming.map((item) => [item.kind, 'text' in item ? item.text : ''])).toEqual([
      ['user', 'hi'],
      ['assistant', 'Hello'],
    ]);
    const healed = reduceTranscript({ items: streaming }, [message('assistant', 'Hello there.')]).items;
    expect(healed.at(-1)).toMatchObject({ kind: 'assistant', text: 'Hello there.', state: 'complete' });
  });

  it('keeps what did not change, and is the same whether events come one by one or together', () => {
    const events = [message('user', 'hi'), chunk('a'), chunk('b'), message('assistant', 'ab')];
    const single = events.reduce((before, each) => reduceTranscript(before, [each]), emptyTranscript);
    expect(single.items).toEqual(fold(...events));
    const later = reduceTranscript(single, [chunk('more')]);
    expect(later.items[0]).toBe(single.items[0]);
  });

  it('says once what each turn cannot use, and again where one was there meanwhile', () => {
    const notice = (code: string, text: string) => event({ kind: 'notice', level: 'warn', code, message: text });
    const missing = ['a is not there', 'b is not there'].map((text) => notice('provider_unavailable', text));
    const texts = (...events: readonly RunEvent[]) => fold(...events).map((item) => ('text' in item ? item.text : ''));
    const twice = [...missing, message('user', 'two'), ...missing];
    expect(texts(...twice)).toEqual(['a is not there', 'b is not there', 'two']);
    expect(texts(...twice, notice('provider_ready', 'a is ready'), ...missing.slice(0, 1)).slice(3)).toEqual([
      'a is ready',
      'a is not there',
    ]);
    const broken = notice('policy_fallback', 'the policy is broken');
    expect(texts(broken, ...missing, message('user', 'two'), broken)).toEqual([
      'the policy is broken',
      'a is not there',
      'b is not there',
      'two',
    ]);
  });

  it('ends what was thought where the model is asked anew', () => {
    const thinks = (thinking: string, at: string) => event({ ...task, kind: 'step_chunk', thinking, index: 0 }, at);
    const retry = { class: 'server_error', message: 'broken', wait_ms: 1000, next_attempt: 2, model: 'm' } as const;
    const items = fold(
      thinks('one', '2026-01-05T10:00:00.000Z'),
      event({ ...task, kind: 'model_retry', ...retry }),
      thinks('two', '2026-01-05T10:00:02.000Z'),
      message('assistant', 'now', {}),
    );
    expect(
      items.map((item) => [item.kind, 'text' in item ? item.text : '', 'state' in item ? item.state : '']),
    ).toEqual([
      ['reasoning', 'one', 'complete'],
      ['notice', 'server_error: broken; again in 1 s', ''],
      ['reasoning', 'two', 'complete'],
      ['assistant', 'now', 'complete'],
    ]);
  });

  it('tells reasoning apart, with how long it took', () => {
    const items = fold(
      event({ ...task, kind: 'step_chunk', thinking: 'Let me', index: 0 }, '2026-01-05T10:00:00.000Z'),
      event({ ...task, kind: 'step_chunk', content: 'Seven.', index: 1 }, '2026-01-05T10:00:04.000Z'),
    );
    expect(items.map(({ kind }) => kind)).toEqual(['reasoning', 'assistant']);
    expect(rows(items[0])).toEqual(['~ thought for 4.0s · ~2 tokens  +']);
    const usage = { ...noUsage, output_tokens: 300, reasoning_tokens: 212 };
    const end = event({ ...task, kind: 'step_stream_end', chunk_count: 2, finish_reason: 'stop', usage });
    expect(rows(reduceTranscript({ items }, [end]).items[0])).toEqual(['~ thought for 4.0s · 212 tokens  +']);
    const begun = fold(event({ ...task, kind: 'step_chunk', thinking: 'Let me', index: 0 }));
    expect(rows(begun[0])).toEqual(['~ thinking 00:05  +']);
  });

  it('knows which calls are of one batch, and folds more than six that went well', () => {
    const calls = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) => ({
        call_id: `${name}${index}`,
        tools: 'local_fs',
        tool: 'grep',
      })).flatMap((call, index) => [
        event({ kind: 'tool_call_pending', ...call, args: {}, batch_index: index, batch_size: count }),
        event({ kind: 'policy_decision', ...call, action: 'allow', rule: 3, reason: 'matched_rule', policy }),
        event({
          kind: 'tool_call',
          ...call,
          ok: true,
          result: '',
          result_bytes: 0,
          truncated_result: false,
          duration_ms: 1,
        }),
      ]);
    const items = fold(...calls('a', 7), ...calls('b', 6));
    const first = foldableBatch(items, 4);
    expect(first).toMatchObject({ id: 'batch:a0', first: 0 });
    expect(first === null ? '' : textOf(batchLine(first, look()))).toBe('• 7 calls: 7 allowed  +');
    expect(foldableBatch(items, 7)).toBe(null);
    const [one, ...others] = items.slice(0, 7);
    const bad = one?.kind === 'call' ? [{ ...one, state: 'failed' as const }, ...others] : [];
    expect(foldableBatch(bad, 0)).toBe(null);
  });

  it('follows a call from its request over the question to its outcome', () => {
    const asked = fold(
      event({ kind: 'tool_call_pending', ...callId, args: { command: 'npm test' }, batch_index: 0, batch_size: 1 }),
      event({ kind: 'policy_decision', ...callId, action: 'approve', rule: 3, reason: 'matched_rule', policy }),
      event({
        kind: 'ask',
        ask_id: 'ask_1',
        ask_kind: 'permission',
        ...callId,
        args: {},
        summary: '',
        expires_at: null,
      }),
    );
    expect(rows(asked[0])).toEqual([
      '• local_shell.local_shell  npm test                     waiting for an answer  +',
    ]);
    const treated = { ask_id: 'ask_1', call_id: 'call_1', verdict: 'denied', treat_as: 'skip' } as const;
    const skipped = reduceTranscript({ items: asked }, [event({ kind: 'verdict', ...treated, by: 'operator:tui' })]);
    expect(skipped.items).toMatchObject([{ verdict: { verdict: 'skipped' } }]);
    const done = reduceTranscript({ items: asked }, [
      event({ kind: 'verdict', ask_id: 'ask_1', call_id: 'call_1', verdict: 'approved', by: 'operator:tui' }),
      event({ kind: 'tool_call_started', ...callId }),
      event({ kind: 'tool_output', call_id: 'call_1', stream: 'stdout', text: 'one\ntwo\n' }),
      event({
        kind: 'tool_call',
        ...callId,
        ok: true,
        result: JSON.stringify({ exit_code: 0, stdout: 'a\nb\nc\nd\ne\n', stderr: '' }),
        result_bytes: 10,
        truncated_result: false,
        duration_ms: 8100,
      }),
    ]).items;
    expect(rows(done[0], 120)).toEqual([
      expect.stringMatching(
        /^• local_shell\.local_shell {2}npm test +asked, approved by operator:tui \d\d:\d\d · exit 0 · 5 lines · 8\.1s {2}\+$/,
      ),
      '    a',
      '    b',
      '    c',
      '    … 2 more lines',
    ]);
  });

  it('lets a call that had begun wait again, where its process has ended and somebody must say what became of it', () => {
    const items = fold(
      event({ kind: 'tool_call_pending', ...callId, args: { command: 'npm test' }, batch_index: 0, batch_size: 1 }),
      event({ kind: 'tool_call_started', ...callId }),
      event({ kind: 'chain_suspended', reason: 'interrupted', ask_ids: [], checkpoint_seq: 2 }),
      event({ kind: 'chain_resumed', by: 'operator:web', from_seq: 3 }),
      event({
        kind: 'ask',
        ask_id: 'ask_2',
        ask_kind: 'unknown_outcome',
        ...callId,
        args: {},
        summary: '',
        expires_at: null,
      }),
    );
    expect(items[0]).toMatchObject({ kind: 'call', state: 'pending', ask_id: 'ask_2', verdict: null });
  });

  it('tells an interruption once, where a text was cut by it', () => {
    const items = fold(
      chunk('Half'),
      event({ kind: 'chain_suspended', reason: 'interrupted', ask_ids: [], checkpoint_seq: 1 }),
    );
    expect(items.flatMap((item) => rows(item))).toEqual([
      '  Half',
      '- partial: this is what arrived',
      '- interrupted: it stopped at its last checkpoint',
      '  reins state resume run_1',
    ]);
    expect(
      items.flatMap((item) => plainLines(item, false)).filter((line) => line.includes('interrupted')),
    ).toHaveLength(1);
  });

  it('has nobody wait for a call of a run that is over', () => {
    const call = (id: string) => ({ call_id: id, tools: 'local_shell', tool: 'local_shell' });
    const asked = (id: string, index: number) =>
      event({ kind: 'tool_call_pending', ...call(id), args: {}, batch_index: index, batch_size: 2 });
    const begun = [asked('a', 0), asked('b', 1), event({ kind: 'tool_call_started', ...call('a') })];
    const calls = (...ends: readonly RunEvent[]) =>
      fold(...begun, ...ends).flatMap((item) => (item.kind === 'call' ? [[item.state, item.error]] : []));
    expect(calls(event({ kind: 'chain_cancelled', reason: 'x', by: 'operator:web', duration_ms: 1 }))).toEqual([
      ['failed', 'outcome_unknown'],
      ['failed', 'not_executed'],
    ]);
    const rests = event({ kind: 'chain_suspended', reason: 'interrupted', ask_ids: [], checkpoint_seq: 1 });
    expect(calls(rests)).toEqual([
      ['failed', 'outcome_unknown'],
      ['pending', null],
    ]);
    const again = event({ kind: 'tool_call_started', ...call('a') });
    expect(calls(rests, event({ kind: 'chain_resumed', by: 'operator:web', from_seq: 1 }), again)[0]).toEqual([
      'running',
      null,
    ]);
  });

  it('shows a call that was refused before anybody judged it, which has no event but its end', () => {
    const result = JSON.stringify({ ok: false, error: 'quarantined', message: 'Look at it first.' });
    const items = fold(
      event({
        kind: 'tool_call',
        ...{ call_id: 'call_2', tools: 'mine', tool: 'echo' },
        ...{ ok: false, error: 'quarantined', result, result_bytes: 9, truncated_result: false, duration_ms: 0 },
      }),
    );
    expect(rows(items[0])).toEqual([
      expect.stringMatching(/^! mine\.echo .*error quarantined/),
      '    Look at it first.',
    ]);
  });

  it('tells of a call what the model wrote, where that is no JSON', () => {
    const item = { ...emptyCall('call_2', 'run_1'), tools: 'local_fs', tool: 'read_file', args: '{"path": a\u202e' };
    expect(rows(item)[0]).toMatch(/^• local_fs\.read_file {2}\{"path": a⟨U\+202E⟩ /);
  });

  const usage = {
    input_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
    cached_input_tokens: 0,
    total_tokens: 0,
    estimated: false,
  };
  const failed = (failure: 'rate_limit' | 'auth' | 'timeout' | 'capacity', message: string) =>
    event({
      kind: 'chain_failed',
      error: { class: failure, message },
      exit_code: 7,
      usage,
      num_turns: 1,
      num_tool_calls: 0,
      duration_ms: 1,
    });

  it('names the backend in the command that mends a key', () => {
    const items = fold(failed('auth', 'no key for backend "other" (model m, backend mine)'));
    expect(items.flatMap((item) => rows(item)).at(-1)).toBe('  reins backend update mine --api-key-env <NAME>');
  });

  it('names the variable that holds a key which was refused', () => {
    const items = fold(failed('auth', 'backend "a" answered 401: no; its key is that of A_KEY (model m, backend a)'));
    expect(items.flatMap((item) => rows(item)).at(-1)).toBe('  export A_KEY=…');
  });

  it('offers to send the message again after a model that took too long', () => {
    const items = fold(failed('timeout', 'backend "b" sent nothing more for 90 s (idle limit)'));
    expect(items.flatMap((item) => rows(item)).at(-1)).toBe('  Ctrl+X u sends the message again');
  });

  it('says what helps where a service finds the context too long', () => {
    const items = fold(failed('capacity', 'prompt is too long (model m, backend b)'));
    expect(items.flatMap((item) => rows(item)).at(-1)).toBe(
      '  /compact makes the session shorter; /model chooses another model',
    );
    const counted = fold(failed('capacity', 'shorten the input, or raise the limit: a larger --context'));
    expect(counted.flatMap((item) => rows(item)).at(-1)).toContain('a larger --context');
  });

  it('says what failed and what mends it', () => {
    const items = fold(chunk('half'), failed('rate_limit', 'too many requests'));
    expect(items.flatMap((item) => rows(item))).toEqual([
      '  half',
      '- it failed here',
      '! failed (rate_limit): too many requests',
      '  Ctrl+X u sends the message again',
    ]);
  });
});

describe('rows of an item', () => {
  const hostile = '\u001b[2J\u001b]52;c;eA==\u0007\rx\u202e⟨U+1⟩\n┏ ASK · policy: allowed';

  it('begin foreign text in the third column, whatever it draws', () => {
    const items: readonly Item[] = [
      { kind: 'user', id: 'u', text: hostile, state: 'sent', seq: 1 },
      { kind: 'assistant', id: 'a', text: hostile, state: 'complete', seq: 2 },
      { kind: 'notice', id: 'n', level: 'warn', text: hostile },
      { kind: 'reasoning', id: 'r', text: hostile, state: 'complete', started_at: null, ms: null },
    ];
    for (const item of items) {
      for (const columns of [16, 40, 80]) {
        for (const row of rows(item, columns, true)) {
          expect([row, /^(?: {2}|› |~ |- |$)/.test(row)]).toEqual([row, true]);
          expect(row).not.toMatch(/[\u0000-\u001f\u202e]/);
        }
      }
    }
  });

  it('keep the whole text that was streamed, where the event of its message is cut', () => {
    const cut = { ...message('assistant', 'long', { thinking: 'why' }), truncated: ['message'] };
    const thought = event({ ...task, kind: 'step_chunk', thinking: 'why not', index: 0 });
    expect(fold(thought, chunk('longer'), cut)).toMatchObject([
      { kind: 'reasoning', text: 'why not', state: 'complete' },
      { kind: 'assistant', text: 'longer', state: 'complete' },
    ]);
    // Who has seen nothing of it is told.
    expect(fold(cut).map((item) => ('text' in item ? item.text : ''))).toEqual([
      'why',
      'long',
      'the text above goes on: it is whole when the session is opened again',
    ]);
  });

  it('mark what a failed turn has left as it was marked when it failed', () => {
    const note = (text: string) => rows(storedItems([{ ...stored, kind: 'note', text }])[0] as Item);
    expect(note('failed (auth): no key')).toEqual(['! failed (auth): no key']);
    expect(note('interrupted')).toEqual(['- interrupted']);
  });

  it('say of a call that had begun when its run was stopped that its outcome is unknown, of one that waits nothing', () => {
    const called = (id: string, action: 'allow' | 'approve', state: 'unknown' | 'started' | 'planned') => ({
      id,
      name: 'local_shell.local_shell',
      arguments: '{"command":"ls"}',
      record: {
        tools: 'local_shell',
        tool: 'local_shell',
        decision: { action, matched_rule: 2, reason: 'matched_rule', detail: null, policy: 'p' },
        ask_id: action === 'allow' ? null : 'a',
        verdict: null,
        state,
        duration_ms: null,
      },
    });
    // Nobody could mark what a killed process had begun, nor leave a note.
    const killed = [
      called('c1', 'allow', 'unknown'),
      called('c2', 'approve', 'planned'),
      called('c3', 'allow', 'started'),
    ];
    const stopped = [
      { ...stored, tool_calls: killed },
      { ...stored, seq: 2, id: '2', kind: 'note', text: 'interrupted' } as const,
    ];
    expect(
      storedItems(stopped)
        .slice(0, 3)
        .map((item) => rows(item)[0]),
    ).toEqual([
      expect.stringMatching(/allowed rule 3 · unknown {2}\+$/),
      expect.stringMatching(/waiting for an answer {2}\+$/),
      expect.stringMatching(/allowed rule 3 · unknown {2}\+$/),
    ]);
    // A run that went on behind it has brought the result.
    const result = { ...stored, seq: 3, id: '3', role: 'tool', text: '{"exit_code":0}', tool_call_id: 'c1' } as const;
    expect(rows(storedItems([...stopped, result])[0])[0]).toMatch(/· exit 0 {2}\+$/);
  });

  it('show runs of colours of a program as one mark, and every other sequence byte by byte', () => {
    const item = storedItems([
      { ...stored, tool_calls: [{ id: 'c', name: 'local_shell.local_shell', arguments: '{"command":"ls"}' }] },
      {
        ...stored,
        seq: 2,
        id: '2',
        role: 'tool',
        text: JSON.stringify({ exit_code: 1, stdout: '\u001b[1m\u001b[31mred\u001b[0m \u001b[?1049hx' }),
        tool_call_id: 'c',
      },
    ])[0];
    expect(rows(item)).toEqual([
      '• local_shell.local_shell  ls                                          exit 1  +',
      '    ⟨sgr⟩red⟨sgr⟩ ␛[?1049hx',
    ]);
  });

  it('say nothing of a program that printed nothing, and not why a call was asked that was denied then', () => {
    const call = { ...emptyCall('c', 'r'), tools: 'local_shell', tool: 'local_shell', args: { command: 'false' } };
    const result = JSON.stringify({ exit_code: 1, stdout: '', stderr: '', duration_seconds: 0.05 });
    const ran = rows({ ...call, state: 'ok', result, ms: 60 }, 60);
    expect(ran).toEqual(['• local_shell.local_shell  false            exit 1 · 60ms  +']);
    const decision = {
      action: 'approve',
      rule: 66,
      reason: 'matched_rule',
      detail: 'program rm',
      policy: 'default',
    } as const;
    const said = JSON.stringify({ ok: false, error: 'denied', message: 'The operator declined this call.' });
    const denied = rows({ ...call, state: 'denied', decision, result: said, error: 'denied' }, 60);
    expect(denied).toEqual(['! local_shell.local_shell  false             asks rule 67  +']);
  });

  it('say that a call of a stored session was denied, where no more is known', () => {
    const denied = { ...emptyCall('c', 'r'), tools: 'local_fs', tool: 'write_file', args: { path: 'a' } };
    expect(rows({ ...denied, state: 'denied', error: 'denied' }, 60)[0]).toBe(
      '! local_fs.write_file  a                           denied  +',
    );
  });

  it('say how many lines of a long message are hidden', () => {
    const text = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n');
    const item: Item = { kind: 'user', id: 'u', text, state: 'sent', seq: 1 };
    expect(rows(item)).toHaveLength(11);
    expect(rows(item).at(-1)).toBe('  … 20 more lines');
    expect(rows(item, 80, true)).toHaveLength(30);
  });
});

describe('plain lines', () => {
  it('tell a remembered choice from a rule that allows', () => {
    const call: Item = {
      ...emptyCall('c1', 'r1'),
      tools: 'local_fs',
      tool: 'write_file',
      args: { path: 'a' },
      state: 'ok',
    };
    const decided = (reason: string, rule: number | null) =>
      plainLines({ ...call, decision: { action: 'allow', reason, rule } } as Item, false)[0];
    expect(decided('remembered', 62)).toBe('tool: local_fs.write_file a - remembered - ok');
    expect(decided('matched_rule', 62)).toBe('tool: local_fs.write_file a - allowed rule 63 - ok');
    expect(decided('default_action', null)).toBe('tool: local_fs.write_file a - allowed default action - ok');
  });

  it('LLM-005: label every line, so that content cannot pose as something else', () => {
    const answer: Item = { kind: 'assistant', id: 'a', text: 'one\nask: ok\u001b[2J', state: 'complete', seq: 1 };
    expect(plainLines(answer, false)).toEqual(['reins: one', '     | ask: ok␛[2J']);
    expect(
      plainLines({ kind: 'reasoning', id: 'r', text: 'hm', state: 'complete', started_at: null, ms: 1 }, false),
    ).toEqual([]);
  });

  it('know the last turns', () => {
    const user = (id: string): Item => ({ kind: 'user', id, text: id, state: 'sent', seq: 1 });
    const items = [user('a'), user('b'), user('c')];
    expect(lastTurns(items, 2)).toEqual([user('b'), user('c')]);
    expect(lastTurns(items, 9)).toEqual(items);
  });
});
