import { estimateTokens } from '../../text/tokens.ts';
import { extractNumber, parseRange, promptText, strictNumber, taskError, type Value } from '../../chain/values.ts';
import type { Task } from '../../schema/chain.ts';
import type { Route } from '../../schema/protocol.ts';
import type { Prepared } from '../expand.ts';
import { failed, failure, type Handled } from '../failure.ts';
import { lastReport } from '../finish.ts';
import { newMessage } from '../run.ts';
import { takeTurn } from '../turn.ts';
import { type Fitted, fitRequest, roomFor } from '../window.ts';

/** `prompt_to_*` (04 §7.5): one model call whose answer is read as a value. @throws RuntimeError task_error */
export async function prompt(step: Prepared): Promise<Handled> {
  const reading = readings[step.task.handler];
  if (reading === undefined) throw new RangeError(`${step.task.handler} reads no answer`);
  const line = reading.line(step.task);
  const text = promptText(step.input.value, step.input.type);
  const answer = await ask(step, line, () => text);
  return answer.kind === 'text' ? reading.read(answer.text, step.task) : answer.handled;
}

type Read = (answer: string, task: Task) => Handled;

const done = (output: Value, evalText: string): Handled => ({ kind: 'done', output, evalText });

/** What is asked for and how the answer is read. */
const readings: Readonly<Record<string, { line(task: Task): string; read: Read }>> = {
  prompt_to_string: {
    line: () => '',
    read(answer) {
      const text = answer.trim();
      if (text === '') return failed(failure('empty_reply', 'the model answered with an empty text'));
      return done({ type: 'string', value: text }, text);
    },
  },
  prompt_to_int: {
    line: () => 'Answer with one whole number and nothing else.',
    read(answer) {
      const value = numberIn(answer);
      if (!Number.isSafeInteger(value))
        throw taskError('not_whole', `"${shown(answer)}" holds no whole number in range`);
      return done({ type: 'int', value: value + 0 }, String(value + 0));
    },
  },
  prompt_to_float: {
    line: () => 'Answer with one number and nothing else.',
    read(answer) {
      const value = numberIn(answer);
      return done({ type: 'float', value }, value.toFixed(2));
    },
  },
  prompt_to_range: {
    line: () => 'Answer with a range min-max of two whole numbers and nothing else.',
    read(answer) {
      const text = answer.replace(/[\s"'`]/g, '');
      const one = strictNumber(text);
      const range = one === null ? parseRange(text) : ([one, one] as const);
      if (range === null || !range.every(Number.isSafeInteger) || range[0] > range[1]) {
        throw taskError('bad_range', `"${shown(answer)}" is no range min-max of two whole numbers`);
      }
      const form = `${range[0]}-${range[1]}`;
      return done({ type: 'string', value: form }, form);
    },
  },
  prompt_to_condition: {
    line: (task) => `Answer with exactly one of: ${Object.keys(task.valid_conditions ?? {}).join(', ')}`,
    read(answer, task) {
      const conditions = Object.entries(task.valid_conditions ?? {});
      const said = answer.trim().toLowerCase();
      const found = conditions.find(([key]) => key.trim().toLowerCase() === said);
      if (found === undefined) {
        const keys = conditions.map(([key]) => key).join(', ');
        throw taskError('not_a_condition', `"${shown(answer)}" is none of ${keys}`);
      }
      return done({ type: 'bool', value: found[1] }, String(found[1]));
    },
  },
};

function numberIn(answer: string): number {
  const value = extractNumber(answer);
  if (value === null) throw taskError('no_number', `"${shown(answer)}" holds no number`);
  return value;
}

const shown = (answer: string): string => [...answer.slice(0, 400)].slice(0, 200).join('');

type Asked = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'ended'; readonly handled: Handled };

/**
 * One question to the model: no tools, nothing streamed, temperature 0 unless the task says otherwise (04 §5, §7.5).
 * @param line what the engine adds to the system instruction; empty for nothing
 * @param promptFor the prompt, at most as many tokens as fit the route's context
 */
export async function ask(step: Prepared, line: string, promptFor: (maxTokens: number) => string): Promise<Asked> {
  const { run, config } = step;
  const system = [step.system, line].filter((part) => part !== '').join('\n\n');
  const systemTokens = estimateTokens(system);
  const fitPrompt = (route: Route, shrink: number): Fitted => {
    const content = promptFor(roomFor(run, route, systemTokens, config.maxTokens) * shrink);
    const messages = [newMessage(run, { role: 'user', content })];
    const load = { messages, systemTokens, toolTokens: 0, maxTokens: config.maxTokens, shift: config.shift };
    return fitRequest(step, load, route, shrink);
  };
  await run.checkpoint('model');
  const end = await takeTurn(step, {
    purpose: 'prompt',
    models: config.models,
    providers: config.providers,
    tools: [],
    needsVision: false,
    tokenNeed: 0,
    system,
    settings: {
      think: config.think,
      temperature: config.temperature ?? 0,
      ...(config.maxTokens === null ? {} : { max_tokens: config.maxTokens }),
    },
    retry: config.retry,
    streams: false,
    canShrink: config.shift || config.compact !== null,
    fit: fitPrompt,
  });
  switch (end.kind) {
    case 'reply':
      return { kind: 'text', text: end.reply.content };
    case 'finish': {
      const content = promptFor(Number.POSITIVE_INFINITY);
      const history = { messages: [newMessage(run, { role: 'user', content })] };
      return { kind: 'ended', handled: await lastReport(step, history, end) };
    }
    case 'failed':
      return { kind: 'ended', handled: failed(end.failure) };
    case 'suspended':
    case 'cancelled':
      return { kind: 'ended', handled: { kind: end.kind } };
  }
}
