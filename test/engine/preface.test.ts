import { expect, it } from 'vitest';
import { agent, calls, fileTools, fails, ofKind, ok, play, route, says, spoken } from '../support/recording-host.ts';

const task = (config: object = {}) => ({
  id: 'chat',
  handler: 'chat_completion' as const,
  preface: '{{var:notes|}}',
  execute_config: config,
});
const filler = 'x'.repeat(396);
const long = (count: number) => ({
  base_messages: JSON.stringify(
    Array.from({ length: count }, (_, index) => ({
      id: `b${index}`,
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: filler,
      timestamp: 't',
    })),
  ),
  input: { type: 'chat_history' },
});

it('stands at the head of every request as the same message, and in no history', async () => {
  const played = await play({
    chain: agent({ preface: 'Notes: {{var:notes|}}' }),
    job: { variables: { notes: 'keep {{date}} as it is' }, tools: fileTools },
    script: [calls({ id: 'c1', name: 'local_fs.read_file', args: { path: 'a' } }), says('done')],
    callTool: () => ok('text'),
  });
  const heads = played.requests.map(({ messages }) => messages[0]);
  expect(heads.map((head) => [head?.role, head?.content])).toEqual([
    ['user', 'Notes: keep {{date}} as it is'],
    ['user', 'Notes: keep {{date}} as it is'],
  ]);
  // What was written of a request is used again for the next one.
  expect(heads[1]).toBe(heads[0]);
  expect(spoken(played).filter((line) => line.includes('Notes'))).toEqual([]);
});

it('is nothing where its macros have nothing to say', async () => {
  const played = await play({ chain: { tasks: [task()] }, script: [says('ok')] });
  expect(played.requests[0]?.messages.map(({ content }) => content)).toEqual(['hello']);
});

it('counts, and is never left out when a request is too long', async () => {
  const notes = 'n'.repeat(1600);
  const setup = { token_limit: 2000, tasks: [task({ shift: true })] };
  const without = await play({ chain: setup, job: long(41), script: [says('ok')] });
  const withIt = await play({ chain: setup, job: { ...long(41), variables: { notes } }, script: [says('ok')] });
  // It takes 404 tokens, four messages have 412.
  expect(without.requests[0]?.messages).toHaveLength(17);
  expect(withIt.requests[0]?.messages).toHaveLength(14);
  expect(withIt.requests[0]?.messages[0]?.content).toBe(notes);
  expect(ofKind(withIt, 'context_shifted')).toHaveLength(1);

  const refused = await play({
    chain: setup,
    job: { ...long(15), variables: { notes } },
    script: [fails({ class: 'context_exceeded' }), says('ok')],
  });
  expect(refused.requests.map(({ messages }) => messages[0]?.content)).toEqual([notes, notes]);
});

it('is named where it leaves no room', async () => {
  const played = await play({
    chain: { token_limit: 2000, tasks: [task({ shift: true })] },
    job: { variables: { notes: 'n'.repeat(8000) } },
  });
  expect(played.end).toMatchObject({
    error: {
      class: 'capacity',
      message:
        'task chat failed after 1 attempt: the request needs about 2010 tokens and the limit is 2000, of which 250 are kept for the answer ' +
        '(messages 6, preface 2004, tools 0); shorten the preface (that of the shipped chains is AGENTS.md of the workspace), or raise the limit: token_limit of the chain',
    },
  });
});

it('stands ahead of the last report, too', async () => {
  const played = await play({
    chain: { tasks: [task()] },
    job: { variables: { notes: 'n' } },
    script: [says('report')],
    openTurn: ({ purpose }) =>
      purpose === 'finish' ? { kind: 'go', routes: [route] } : { kind: 'finish', bound: 'maxTurns', used: 1, limit: 1 },
  });
  expect(played.requests.map(({ messages }) => messages.map(({ content }) => content))).toEqual([['n', 'hello']]);
});
