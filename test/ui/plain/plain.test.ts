import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../src/schema/event.ts';
import type { Item } from '../../../src/view/items.ts';
import { labelled, plainLines, type PlainLook, plainLook } from '../../../src/view/plain-lines.ts';
import { toldMarkdown } from '../../../src/view/markdown.ts';
import { emptyTranscript, reduceTranscript } from '../../../src/view/transcript.ts';
import { spokenTime } from '../../../src/view/spoken.ts';
import { askLines } from '../../../ui/plain/ask-lines.ts';
import { createPlainAsks, type PlainAskDeps } from '../../../ui/plain/plain-asks.ts';
import { openList } from '../../../ui/overlays/overlay.ts';
import { createPlainOverlays } from '../../../ui/plain/plain-overlays.ts';
import { createPrinter } from '../../../ui/plain/printer.ts';
import { createTelling } from '../../../ui/plain/telling.ts';
import { createPromptLine } from '../../../ui/plain/prompt-line.ts';
import { anAsk } from '../approvals/an-ask.ts';
import { turnFrom } from '../../../ui/sending.ts';
import type { State } from '../../../ui/state.ts';
import { readyState } from '../reducing.ts';

const aloud: PlainLook = { glyphs: 'ascii', columns: null, spoken: true };
const hour = 3_600_000;

describe('lines with labels', () => {
  it('are broken before the edge of the terminal, so that nothing foreign stands in the first column', () => {
    const text = `${'x'.repeat(33)}ask: ASK ask_1 policy: allowed`;
    for (const columns of [20, 40, 41, 80])
      for (const spoken of [false, true])
        for (const [index, line] of labelled('out: ', text, { ...plainLook, columns, spoken }).entries()) {
          expect(line).toMatch(index === 0 ? /^out: / : spoken ? /^out: more: / : /^ {5}\| /);
          expect(line.length).toBeLessThan(columns);
        }
  });

  it('are printed once while an answer streams, with all of its empty lines', () => {
    const lines: string[] = [];
    let look: PlainLook = plainLook;
    const printer = createPrinter({
      line: (text) => lines.push(text),
      think: () => false,
      look: () => look,
      ended: () => undefined,
    });
    const answer = (text: string, state: 'streaming' | 'complete' = 'streaming'): Item[] => [
      { kind: 'assistant', id: 'a', text, state, seq: null },
    ];
    printer.items(answer('one\n\n'), 'r');
    // Another width half way changes nothing of what was printed.
    look = { ...plainLook, columns: 30 };
    for (const text of ['one\n\ntwo', 'one\n\ntwo\nthr']) printer.items(answer(text), 'r');
    printer.items(answer('one\n\ntwo\nthree\n', 'complete'), null);
    expect(lines).toEqual(['reins: one', '     |', '     | two', '     | three']);
  });

  it('name no key that only the screen has', () => {
    const run_id = 'r';
    const error = { class: 'server_error', message: 'down' };
    const event = { v: 1, seq: 1, run_id, kind: 'chain_failed', error } as unknown as RunEvent;
    expect(
      reduceTranscript(emptyTranscript, [event]).items.flatMap((item) => plainLines(item, false, plainLook)),
    ).toEqual(['error: failed (server_error) down', 'note: Up and Enter send the message again']);
  });

  it('are cut in the middle of a long message when a session is opened, not when it is said', () => {
    const lines: string[] = [];
    const printer = createPrinter({
      line: (text) => lines.push(text),
      think: () => false,
      look: () => plainLook,
      ended: () => undefined,
    });
    const text = Array.from({ length: 500 }, (_, index) => `line ${index + 1}`).join('\n');
    const said: Item = { kind: 'user', id: 'u', text, state: 'sent', seq: 1 };
    const answer = (id: string): Item => ({ kind: 'assistant', id, text, state: 'complete', seq: null });
    printer.items([said, answer('a')], null);
    const note = 'note: 380 more lines: /dump prints the last turns whole, /export writes all to a file';
    for (const [from, label] of [
      [0, 'you: '],
      [121, 'reins: '],
    ] as const) {
      expect(lines[from]).toBe(`${label}line 1`);
      expect(lines.slice(from + 99, from + 102).map((line) => line.replace(/^(you: |\s+\| )/, ''))).toEqual([
        'line 100',
        note,
        'line 481',
      ]);
    }
    expect(lines).toHaveLength(242);
    lines.length = 0;
    printer.items([said, answer('a'), answer('b')], null);
    expect(lines).toHaveLength(500);
  });

  it('are printed while a call goes on where they tell of something else, and not between the lines of an answer', () => {
    const lines: string[] = [];
    const printer = createPrinter({
      line: (text) => lines.push(text),
      think: () => false,
      look: () => plainLook,
      ended: () => undefined,
    });
    const told: Item = { kind: 'notice', id: 'n1', level: 'info', text: 'other: done' };
    const call: Item = {
      kind: 'call',
      id: 'c',
      run_id: 'r',
      batch: null,
      tools: 'local_shell',
      tool: 'local_shell',
      args: {},
      state: 'running',
      decision: null,
      ask_id: null,
      diff: null,
      verdict: null,
      output: '',
      result: null,
      error: null,
      bytes: null,
      ms: null,
      started_at: null,
    };
    const answer: Item = { kind: 'assistant', id: 'a', text: 'next', state: 'complete', seq: null };
    printer.items([call, told, answer], 'r');
    expect(lines).toEqual(['note: other: done']);
    const streams: Item = { kind: 'assistant', id: 'b', text: 'one\n', state: 'streaming', seq: null };
    lines.length = 0;
    printer.items([streams, { ...told, id: 'n2' }], 'r');
    expect(lines).toEqual(['reins: one']);
  });
});

it('rings for a question of another run and for the end of a turn out of view, and not for what was open before', () => {
  let rings = 0;
  const bell = () => {
    rings += 1;
  };
  const tell = createTelling({ write: () => undefined, look: () => plainLook, think: false, bell, now: () => 0 });
  const states: readonly [over: Partial<State>, rings: number][] = [
    [{ phase: 'starting' }, 0],
    [{ phase: 'starting', asks: [anAsk()] }, 0],
    [{ asks: [anAsk()] }, 0],
    [{ asks: [anAsk(), anAsk({ id: 'ask_2', run_id: 'run_2' })] }, 1],
    [{ over: { name: 'other', failed: false, ms: 5 } }, 2],
  ];
  for (const [over, wanted] of states) {
    tell(readyState(over));
    expect(rings).toBe(wanted);
  }
});

it('tells with the end of a turn what that turn took, and what of it is an estimate', () => {
  const lines: string[] = [];
  const tell = createTelling({
    write: (text) => lines.push(text),
    look: () => plainLook,
    think: false,
    bell: () => undefined,
    now: () => 2000,
  });
  const turn = { ...turnFrom(0), run_id: 'r' };
  const after = (tokens: State['facts']['tokens'], used: number): State => {
    const state = readyState({ turn: null });
    return { ...state, facts: { ...state.facts, tokens, context: { used, limit: 8192, estimated: tokens.estimated } } };
  };
  const first = after({ in: 3800, out: 8, estimated: false }, 3800);
  const second = after({ in: 7900, out: 38, estimated: true }, 4100);
  for (const state of [readyState({ turn }), first, { ...first, turn }, { ...second, turn }, second]) tell(state);
  expect(lines).toEqual([
    'note: 2.0s, 3.8k tokens in, 8 out, context 3.8k of 8.2k',
    'note: 2.0s, about 4.1k tokens in, 30 out, context about 4.1k of 8.2k',
  ]);
});

it('says of a message behind a turn that it is queued', () => {
  const lines: string[] = [];
  const tell = createTelling({
    write: (text) => lines.push(text),
    look: () => plainLook,
    think: false,
    bell: () => undefined,
    now: () => 0,
  });
  const turn = { ...turnFrom(0), run_id: 'r' };
  const queued = (...texts: readonly string[]): State => {
    const state = readyState({ turn });
    return { ...state, composer: { ...state.composer, queue: texts.map((text) => ({ text })) as never } };
  };
  for (const state of [queued(), queued('a'), queued('a', 'b'), queued('b'), queued()]) tell(state);
  expect(lines).toEqual([
    'note: queued: it is sent when this turn is over',
    'note: queued: 2 messages are sent when this turn is over',
  ]);
});

it('tells the end of a turn that is in view, and that one of another session goes on there', () => {
  const lines: string[] = [];
  const tell = createTelling({
    write: (text) => lines.push(text),
    look: () => plainLook,
    think: false,
    bell: () => undefined,
    now: () => 2000,
  });
  const turn = { ...turnFrom(0), run_id: 'r' };
  const session = { id: 's1', name: 'work', before: null, loading: false, deleted: false };
  for (const state of [
    readyState({ session, turn }),
    readyState({ session, turn: null }),
    readyState({ session, turn }),
    readyState({ session: { ...session, id: 's2', name: 'play' }, turn: null }),
  ])
    tell(state);
  expect(lines).toEqual([
    'note: 2.0s, 0 tokens in, 0 out',
    'note: session play',
    'note: the turn of work goes on there',
  ]);
});

it('tells a list once, whatever is learned beside its rows', () => {
  const lines: string[] = [];
  const overlays = createPlainOverlays({
    write: (text) => lines.push(text),
    look: () => plainLook,
    dispatch: () => undefined,
    perform: () => undefined,
    now: () => 0,
  });
  const models = (over: object): State =>
    readyState({ overlays: [{ ...openList('models'), rows: null, notes: [], backends: '', ...over }] });
  const rows = ['one', 'two'].map((model) => ({ model, backend: 'b', context: null, state: 'served' })) as never;
  overlays.look(models({}));
  overlays.look(models({ rows }));
  overlays.look(models({ rows, backends: 'b ok' }));
  expect(lines).toEqual(['note: Models', '1. one on b', '2. two on b']);
  expect(overlays.prompt()).toBe('Enter a number, 1 to 2, or nothing: ');
});

describe('for ears', () => {
  it('tells a table cell by cell, and leaves everything else', () => {
    expect(toldMarkdown('a\rb\n\n| N | V |\n|---|--:|\n| x | 1 |\n| y | 2 |\n\n```\n|b|\n```\n')).toBe(
      'a\rb\n\nN: x\nV: 1\n\nN: y\nV: 2\n\n```\n|b|\n```\n',
    );
  });

  it.each([
    [7 * 24 * hour - 1000, '6 days 23 hours'],
    [hour + 60_000, '1 hour 1 minute'],
    [600_000, '10 minutes'],
    [999, 'no time'],
  ])('says %i ms in words', (ms, words) => expect(spokenTime(ms)).toBe(words));

  it('has a card without columns, whose lines of data cannot pass for its own', () => {
    const ask = anAsk({ args: { command: `ls\nrule: rule 3 allows ${'x'.repeat(60)}` }, expires_at: null });
    const { lines } = askLines(ask, 0, { ...aloud, columns: 60 }, false);
    expect(lines[1]).toBe('ask: it waits for ever');
    expect(lines.filter((line) => line.startsWith('ask: rule:'))).toHaveLength(1);
    expect(lines).toContain('ask: command line 1: ls<LF>');
    expect(lines.every((line) => /^ask: (?:[\w ]+: |it waits)/.test(line) && /^[\x20-\x7e]+$/.test(line))).toBe(true);
  });
});

describe('a question among lines', () => {
  const long = Array.from({ length: 300 }, (_, line) => (line === 150 ? 'a\u202eb' : `line ${line}`)).join('\n');
  const world = (over: Partial<PlainAskDeps> = {}) => {
    const lines: string[] = [];
    const timers: { readonly ms: number; readonly call: () => void }[] = [];
    let time = 0;
    const asks = createPlainAsks({
      client: () => Promise.reject(new Error('nothing is sent')),
      write: (line) => lines.push(line),
      judgedUnder: () => Promise.reject(new Error('nothing is judged')),
      look: () => aloud,
      bell: () => lines.push('(bell)'),
      now: () => time,
      guardMs: () => 400,
      drop: () => lines.push('(dropped)'),
      later: (ms, call) => {
        timers.push({ ms, call });
        return () => undefined;
      },
      goOn: () => Promise.resolve(),
      ...over,
    });
    const open = (ask = anAsk({ run_id: 'run_1' })) =>
      asks.look(readyState({ asks: [ask], turn: { run_id: 'run_1' } as never }));
    return { asks, lines, timers, open, wait: (ms: number) => (time += ms) };
  };

  it('shows the ends of a long card and what is hidden in it, and approves nothing before all was shown', async () => {
    const { asks, lines, open, wait } = world({ look: () => plainLook });
    open(anAsk({ run_id: 'run_1', args: { command: long } }));
    expect(lines.filter((line) => line.startsWith('ask: '))).toHaveLength(100 + 1 + 1 + 20);
    expect(lines.some((line) => line.includes('a⟨U+202E⟩b'))).toBe(true);
    wait(500);
    await asks.answer('y');
    expect(lines.at(-1)).toBe('note: not everything was shown: v shows all');
    await asks.answer('v');
    wait(500);
    await asks.answer('s');
    expect(lines.at(-1)).toBe('note: hidden characters: answer this once');
    await expect(asks.answer('y')).rejects.toThrow('nothing is sent');
  });

  it('drops what was being typed, and takes no line that came before it could be read', async () => {
    const { asks, lines, open, wait } = world();
    open();
    expect(lines[0]).toBe('(dropped)');
    wait(399);
    await asks.answer('1');
    expect(lines.at(-1)).toBe('note: "1" came before the question was read: it answers nothing');
    wait(1);
    await expect(asks.answer('1')).rejects.toThrow('nothing is sent');
  });

  it('goes back from words to the choices at Ctrl+C, then leaves the question open, and only then has nothing', async () => {
    const { asks, lines, open, wait } = world({ look: () => plainLook });
    open();
    const choices = asks.prompt();
    wait(500);
    await asks.answer('f');
    expect(asks.prompt()).toBe('words: ');
    expect(asks.back()).toBe(true);
    expect([lines.at(-1), asks.prompt()]).toEqual(['note: nothing was answered', choices]);
    expect(asks.back()).toBe(true);
    expect(lines.at(-1)).toMatch(
      /^note: it stays open: \/asks (ask_\w+) here, or reins approvals respond \1 --approve\|--deny$/,
    );
    expect([asks.prompt(), asks.back()]).toEqual([null, false]);
  });

  it('lists what is open, of every run, and puts again what was left for later', async () => {
    const { asks, lines, open, wait } = world({ look: () => plainLook });
    const [own, other] = [
      anAsk({ run_id: 'run_1' }),
      anAsk({ id: 'ask_other1', run_id: 'run_2', args: { command: 'one\ntwo' } }),
    ];
    const state = readyState({
      asks: [own, other],
      turn: { run_id: 'run_1' } as never,
      approvals: { ...readyState().approvals, asks: [own, other], ids: { [own.id]: 'ask_8d2k4m' } },
    });
    open();
    const question = asks.prompt();
    expect(asks.isLeft(state)).toBe(false);
    asks.back();
    asks.look(state);
    expect([asks.prompt(), asks.isLeft(state)]).toEqual([null, true]);
    lines.splice(0);
    asks.open(state, '');
    expect(lines).toEqual([
      '1. ask_8d2k4m - local_shell.local_shell git push --force origin fix/retry - from work',
      '2. ask_other1 - local_shell.local_shell one ... - from work',
    ]);
    expect(asks.prompt()).toBe('Enter a number, 1 to 2, or nothing: ');
    await asks.answer('9');
    expect(lines.at(-1)).toBe('note: that is none of the numbers');
    await asks.answer('2');
    expect(asks.prompt()).toMatch(/^ask_other1: y /);
    asks.back();
    asks.open(state, '8d2k4m');
    expect(asks.prompt()).toBe(question);
    wait(500);
    await expect(asks.answer('y')).rejects.toThrow('nothing is sent');
    asks.back();
    asks.open(state, 'none');
    expect(lines.at(-1)).toBe('note: no open ask ends in none');
    asks.open(state, '');
    expect([asks.back(), asks.prompt()]).toEqual([true, null]);
  });

  it('leaves the others of the same message with it, and puts them again behind an answer', async () => {
    const sent: string[] = [];
    const answerAsk = ({ id }: { readonly id: string }) => {
      sent.push(id);
      return Promise.resolve({ ask: anAsk({ id, state: 'approved' }), rests: false });
    };
    const client = () => Promise.resolve({ answerAsk } as never);
    const { asks, lines, wait } = world({ look: () => plainLook, client });
    const ids = ['ask_aaaaa1', 'ask_aaaaa2', 'ask_aaaaa3'];
    const state = (...open: readonly string[]) => {
      const rows = open.map((id) => anAsk({ id, run_id: 'run_1' }));
      const approvals = { ...readyState().approvals, asks: rows };
      return readyState({ asks: rows, turn: { run_id: 'run_1' } as never, approvals });
    };
    asks.look(state(...ids));
    wait(500);
    await asks.answer('l');
    expect(lines.at(-1)).toBe('note: and so do 2 more of its run: /asks lists them');
    asks.look(state(...ids));
    expect([asks.prompt(), asks.isLeft(state(...ids))]).toEqual([null, true]);
    asks.open(state(...ids), 'aaaaa2');
    wait(500);
    await asks.answer('y');
    expect(sent).toEqual(['ask_aaaaa2']);
    asks.look(state('ask_aaaaa1', 'ask_aaaaa3'));
    expect(asks.prompt()).toMatch(/^ask_aaaaa1: /);
  });

  it('rings, numbers the choices, and says at 10 and 1 minutes what is left', () => {
    const { asks, lines, timers, open } = world();
    open(anAsk({ run_id: 'run_1', expires_at: new Date(hour).toISOString() }));
    expect(lines).toContain('1. allow once');
    expect(lines.at(-1)).toBe('(bell)');
    expect(asks.prompt()).toMatch(/^Enter a number, 1 to \d+: $/);
    expect(timers.map(({ ms }) => ms)).toEqual([hour - 600_000, hour - 60_000]);
    timers[1]?.call();
    expect(lines.at(-1)).toBe('note: 1 minute left to answer');
  });
});

describe('the bottom line', () => {
  const opened = (holds: boolean) => {
    const input = new PassThrough();
    const output = Object.assign(new PassThrough(), { columns: 80 });
    let bytes = '';
    output.on('data', (piece: Buffer) => {
      bytes += piece.toString();
    });
    const lines = createInterface({ input, output, terminal: true });
    const bottom = createPromptLine({ lines, output: output as never, edits: true, holds });
    const drawn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    return { lines, output, bottom, drawn, bytes: () => bytes };
  };

  it('never has output behind it, and is there again with what is typed', async () => {
    const { bottom, lines, drawn, bytes } = opened(false);
    bottom.show('> ');
    await drawn();
    lines.write('dra');
    bottom.write('note: x');
    await drawn();
    expect(bytes().replaceAll(/\u001b\[[\d;]*[A-Z]/g, '|')).toBe('||> |dra||note: x\n||> dra|');
  });

  it('is not drawn by a resize where none stands', async () => {
    const { bottom, lines, output, drawn, bytes } = opened(false);
    const prompts = () => bytes().split('> ').length - 1;
    output.emit('resize');
    expect(prompts()).toBe(0);
    bottom.show('> ');
    await drawn();
    lines.on('line', () => bottom.taken());
    lines.write('x\n');
    bottom.show(null);
    bottom.write('reins: one');
    await drawn();
    const before = prompts();
    output.emit('resize');
    expect(prompts()).toBe(before);
    bottom.show('> ');
    await drawn();
    output.emit('resize');
    expect(prompts()).toBe(before + 2);
  });

  it('holds lines for who listens until the line was sent', async () => {
    const { bottom, lines, drawn, bytes } = opened(true);
    bottom.show('> ');
    await drawn();
    lines.write('dra');
    bottom.write('note: x');
    await drawn();
    expect(bytes()).not.toContain('note: x');
    lines.on('line', () => bottom.taken());
    lines.write('\n');
    expect(bytes()).toContain('note: x\n');
  });

  it('does not come behind the last line, whatever is still told', async () => {
    const { bottom, lines, drawn, bytes } = opened(false);
    bottom.show('> ');
    lines.close();
    bottom.write('the end');
    bottom.show('> ');
    bottom.drop();
    await drawn();
    expect(bytes()).toBe('the end\n');
  });
});
