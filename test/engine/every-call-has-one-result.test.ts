import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../src/schema/errors.ts';
import type { Message } from '../../src/schema/message.ts';
import type { ToolOutcome } from '../../src/schema/protocol.ts';
import { agent, calls, fails, ok, play, type Script, says } from '../support/recording-host.ts';

/** A small generator with a seed, so that a failure can be played again. */
function dice(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return { chance: (share: number) => next() < share, upTo: (count: number) => Math.floor(next() * count) };
}

/** For each call of a history how many results stand directly behind its message, in call order. */
function misplaced(messages: readonly Message[]): string[] {
  const wrong: string[] = [];
  messages.forEach((message, index) => {
    (message.tool_calls ?? []).forEach((call, offset) => {
      const results = messages.filter((each) => each.tool_call_id === call.id);
      if (results.length !== 1) wrong.push(`${call.id}: ${results.length} results`);
      if (messages[index + 1 + offset]?.tool_call_id !== call.id) wrong.push(`${call.id}: not in its place`);
    });
  });
  return wrong;
}

/** Calls of a transcript without exactly one result, wherever it stands. */
const unanswered = (messages: readonly Message[]): string[] =>
  messages.flatMap((message) =>
    (message.tool_calls ?? [])
      .filter((call) => messages.filter((each) => each.tool_call_id === call.id).length !== 1)
      .map((call) => call.id),
  );

describe('any chain with any replies', () => {
  it('never sends a call without exactly one result, and ends with none open', async () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const roll = dice(seed);
      const abort = new AbortController();
      const script = Array.from({ length: 12 }, (): Script => {
        if (roll.chance(0.15)) return says('enough');
        if (roll.chance(0.1)) return fails({ class: 'server_error' });
        if (roll.chance(0.05)) return [{ kind: 'text', text: 'half' }, ...fails({ class: 'server_error' })];
        const wanted = Array.from({ length: 1 + roll.upTo(4) }, () => ({
          ...(roll.chance(0.7) ? { id: `id${roll.upTo(6)}` } : {}),
          name: roll.chance(0.5) ? 'local_fs.read_file' : 'local_fs.write_file',
          args: roll.chance(0.1) ? '{"cut":' : { n: roll.upTo(2) },
        }));
        const parts = calls(...wanted);
        return roll.chance(0.1) ? [...parts.slice(0, -1), { kind: 'finish', reason: 'length' }] : parts;
      });
      const outcome = (): ToolOutcome => {
        if (roll.chance(0.03)) abort.abort();
        if (abort.signal.aborted) throw new RuntimeError('cancelled', 'cancelled');
        if (roll.chance(0.03)) return { kind: 'fatal', error: { code: 'storage', message: 'full' } };
        if (roll.chance(0.03)) return { kind: 'finish', bound: 'maxToolCalls', used: 1, limit: 1 };
        return roll.chance(0.8)
          ? ok(`r${roll.upTo(2)}`)
          : { kind: 'result', ok: false, content: '{}', error: 'denied' };
      };
      const loop = agent({ retry_on_failure: roll.upTo(2) });
      const [chat, tools] = loop.tasks;
      if (chat === undefined || tools === undefined) throw new Error('two tasks');
      const wrap = {
        id: 'wrap',
        handler: 'chat_completion',
        input_var: 'chat',
        execute_config: { tools: ['*'] },
      } as const;
      const early = {
        ...chat,
        transition: {
          ...(roll.chance(0.5) ? { on_failure: 'wrap' } : {}),
          branches: [
            { operator: 'edge_traversed_at_least' as const, edge: 'chat->tools', when: '4', goto: 'wrap' },
            ...(chat.transition?.branches ?? []),
          ],
        },
      };
      const played = await play({
        chain: { tasks: [early, tools, wrap] },
        script,
        callTool: outcome,
        signal: abort.signal,
        job: { defaults: { max_rounds: 3 + roll.upTo(4) } },
      });
      const wrong = {
        requests: played.requests.flatMap((request) => misplaced(request.messages)),
        transcript: unanswered(played.messages),
        ids: new Set(played.messages.map((message) => message.id)).size - played.messages.length,
        internal: played.end.kind === 'failed' && played.end.error.class === 'internal' ? played.end.error.message : '',
      };
      expect({ seed, ...wrong }).toEqual({ seed, requests: [], transcript: [], ids: 0, internal: '' });
    }
  });
});
