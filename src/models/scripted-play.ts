import type { FinishReason, Usage } from '../schema/message.ts';
import { clusters } from '../text/clusters.ts';
import { pause } from '../text/pause.ts';
import { estimateTokens } from '../text/tokens.ts';
import type { ModelFailure, ModelPart, ModelRequest } from './model.ts';
import { fill, fillDeep, type FillScope } from './scripted-fill.ts';
import type { Chunk, ErrorForm, Pace, Reply, ScriptStep, UsageForm } from './scripted-types.ts';

/** What a reply is played with. */
export type Stage = {
  readonly backend: string;
  readonly defaults: Pace;
  readonly scope: FillScope;
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  readonly timeouts: { readonly first_byte_ms: number; readonly idle_ms: number };
};

/** Ends a reply early with its failure. */
class Ended extends Error {
  readonly failure: ModelFailure;

  constructor(failure: ModelFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Plays one reply as the parts of 08 §7. Never throws; on abort the last part is an error of class `cancelled`. */
export async function* playReply(reply: Reply, stage: Stage): AsyncGenerator<ModelPart> {
  const player = createPlayer(stage);
  try {
    if (reply.steps !== undefined) yield* playSteps(reply.steps, reply, stage, player);
    else if (reply.error !== undefined) yield* playError(reply, reply.error, stage, player);
    else yield* playSpoken(reply, stage, player);
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    yield { kind: 'error', error: error.failure };
  }
}

type Player = {
  /** Waits, or throws `Ended` on abort and when a limit of 08 §9.4 is over first. */
  wait(ms: number): Promise<void>;
  /** Waits without end. */
  hang(): Promise<never>;
  /** Notes that something has been sent, and gives it back. */
  sent(part: ModelPart): ModelPart;
  readonly anySent: boolean;
  /** All text, reasoning and arguments sent, for the estimate. */
  readonly output: string;
};

function createPlayer(stage: Stage): Player {
  const { signal, timeouts, backend } = stage;
  let anySent = false;
  let output = '';
  const cancelled = (): Ended => new Ended({ class: 'cancelled', message: 'the model call was cancelled' });

  const sleep = async (ms: number): Promise<void> => {
    if (signal.aborted) throw cancelled();
    if (ms <= 0) return;
    await pause(ms, signal);
    if (signal.aborted) throw cancelled();
  };
  const wait = async (ms: number): Promise<void> => {
    const limit = anySent ? timeouts.idle_ms : timeouts.first_byte_ms;
    await sleep(Math.min(ms, limit));
    if (ms < limit) return;
    const seconds = limit / 1000;
    throw new Ended({
      class: 'timeout',
      message: anySent
        ? `backend "${backend}" sent nothing more for ${seconds} s (idle limit)`
        : `backend "${backend}" sent no reply within ${seconds} s (first byte limit)`,
    });
  };
  return {
    wait,
    async hang() {
      await wait(Number.POSITIVE_INFINITY);
      // A limit is finite, so the wait above always throws.
      throw cancelled();
    },
    sent(part) {
      anySent = true;
      if (part.kind === 'text' || part.kind === 'thinking') output += part.text;
      if (part.kind === 'tool_call') output += `${part.name ?? ''}${part.arguments_delta ?? ''}`;
      return part;
    },
    get anySent() {
      return anySent;
    },
    get output() {
      return output;
    },
  };
}

async function* playSpoken(reply: Reply, stage: Stage, player: Player): AsyncGenerator<ModelPart> {
  const chunk = reply.chunk ?? stage.defaults.chunk ?? 'word';
  const delay = reply.delay_ms ?? stage.defaults.delay_ms ?? 0;
  const parts: ModelPart[] = [
    ...deltasOf(reply.thinking, chunk, stage.scope).map((text): ModelPart => ({ kind: 'thinking', text })),
    ...deltasOf(reply.text, chunk, stage.scope).map((text): ModelPart => ({ kind: 'text', text })),
    ...(reply.tool_calls ?? []).map(
      (call, index): ModelPart => ({
        kind: 'tool_call',
        index,
        ...(call.id === undefined ? {} : { id: call.id }),
        name: fill(call.name, stage.scope),
        arguments_delta:
          typeof call.arguments === 'string'
            ? fill(call.arguments, stage.scope)
            : JSON.stringify(fillDeep(call.arguments, stage.scope)),
      }),
    ),
  ];
  await player.wait(firstDelay(reply, stage));
  for (const [index, part] of parts.entries()) {
    if (index > 0) await player.wait(delay);
    yield player.sent(part);
  }
  if (reply.hang === true) await player.hang();
  const calls = (reply.tool_calls?.length ?? 0) > 0;
  yield* close(reply, stage, player, reply.finish ?? (calls ? 'tool_calls' : 'stop'));
}

async function* playError(reply: Reply, error: ErrorForm, stage: Stage, player: Player): AsyncGenerator<ModelPart> {
  await player.wait(firstDelay(reply, stage));
  const first = graphemes(joined(reply.text, stage.scope))
    .slice(0, error.after_chars ?? 0)
    .join('');
  if (first !== '') yield player.sent({ kind: 'text', text: first });
  yield { kind: 'error', error: failureOf(error, stage.scope) };
}

async function* playSteps(
  steps: readonly ScriptStep[],
  reply: Reply,
  stage: Stage,
  player: Player,
): AsyncGenerator<ModelPart> {
  let finish: FinishReason | null = reply.finish ?? null;
  let calls = false;
  let usage: UsageForm | null = null;
  await player.wait(reply.first_delay_ms ?? 0);
  for (const step of steps) {
    if ('wait_ms' in step) await player.wait(step.wait_ms);
    else if ('text' in step) yield player.sent({ kind: 'text', text: fill(step.text, stage.scope) });
    else if ('thinking' in step) yield player.sent({ kind: 'thinking', text: fill(step.thinking, stage.scope) });
    else if ('tool_call' in step) {
      const { index, id, name, arguments: delta } = step.tool_call;
      calls = true;
      yield player.sent({
        kind: 'tool_call',
        index,
        ...(id === undefined ? {} : { id }),
        ...(name === undefined ? {} : { name: fill(name, stage.scope) }),
        ...(delta === undefined ? {} : { arguments_delta: fill(delta, stage.scope) }),
      });
    } else if ('usage' in step) usage = step.usage;
    else if ('finish' in step) finish = step.finish;
    else if ('error' in step) throw new Ended(failureOf(step.error, stage.scope));
    else if ('hang' in step) await player.hang();
    else if ('drop' in step) throw new Ended(dropped(stage.backend, player.anySent));
    else throw new Ended(undecodable(stage.backend, step.garbage));
  }
  yield* close(usage === null ? reply : { ...reply, usage }, stage, player, finish ?? (calls ? 'tool_calls' : 'stop'));
}

function* close(reply: Reply, stage: Stage, player: Player, reason: FinishReason): Generator<ModelPart> {
  if (stage.signal.aborted) throw new Ended({ class: 'cancelled', message: 'the model call was cancelled' });
  const usage = usageOf(reply.usage ?? stage.defaults.usage ?? 'estimate', stage.request, player.output);
  if (usage !== null) yield { kind: 'usage', usage };
  yield { kind: 'finish', reason };
}

const firstDelay = (reply: Reply, stage: Stage): number => reply.first_delay_ms ?? stage.defaults.first_delay_ms ?? 0;

const failureOf = (error: ErrorForm, scope: FillScope): ModelFailure => ({
  class: error.class,
  message: fill(error.message ?? `scripted error of class ${error.class}`, scope).slice(0, 1000),
  ...(error.status === undefined ? {} : { status: error.status }),
  ...(error.retry_after_ms === undefined ? {} : { retry_after_ms: error.retry_after_ms }),
});

const dropped = (backend: string, started: boolean): ModelFailure =>
  started
    ? { class: 'server_error', message: `backend "${backend}" dropped the connection during its reply` }
    : { class: 'connect', message: `backend "${backend}" closed the connection before a reply came` };

const undecodable = (backend: string, chunk: string): ModelFailure => ({
  class: 'malformed',
  message: `backend "${backend}" sent an undecodable chunk: ${JSON.stringify(chunk.slice(0, 100))}`,
});

const joined = (text: string | readonly string[] | undefined, scope: FillScope): string =>
  fill(typeof text === 'string' ? text : (text ?? []).join(''), scope);

/** A list is its own deltas; a string is cut as `chunk` says. Empty deltas are never sent (08 §7). */
function deltasOf(text: string | readonly string[] | undefined, chunk: Chunk, scope: FillScope): readonly string[] {
  if (text === undefined) return [];
  const deltas = typeof text === 'string' ? cut(fill(text, scope), chunk) : text.map((part) => fill(part, scope));
  return deltas.filter((delta) => delta !== '');
}

function cut(text: string, chunk: Chunk): readonly string[] {
  if (chunk === 'none') return [text];
  // A line break is never inside a grapheme but in CR LF.
  if (chunk === 'line') return text.split(/(?<=\n)/);
  const letters = graphemes(text);
  if (chunk === 'char') return letters;
  if (chunk === 'word') return words(letters);
  const pieces: string[] = [];
  for (let at = 0; at < letters.length; at += chunk) pieces.push(letters.slice(at, at + chunk).join(''));
  return pieces;
}

/** Each word with the blanks behind it. */
function words(letters: readonly string[]): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  let blank = false;
  for (const letter of letters) {
    const isBlank = letter.trim() === '';
    if (blank && !isBlank) {
      pieces.push(piece);
      piece = '';
    }
    piece += letter;
    blank = isBlank;
  }
  if (piece !== '') pieces.push(piece);
  return pieces;
}

function graphemes(text: string): readonly string[] {
  // ASCII has one grapheme of two characters: CR LF. The segmenter costs milliseconds to make.
  if (/^[\x00-\x7f]*$/.test(text)) return text.match(/\r\n|[\s\S]/g) ?? [];
  return [...clusters(text)];
}

/** Tokens of a reply; null when the script reports nothing. The estimate is the one of 04 §13.2. */
function usageOf(form: UsageForm, request: ModelRequest, output: string): Usage | null {
  if (form === 'none') return null;
  if (form !== 'estimate') {
    return {
      input_tokens: form.input_tokens,
      output_tokens: form.output_tokens,
      reasoning_tokens: form.reasoning_tokens ?? 0,
      cached_input_tokens: form.cached_input_tokens ?? 0,
      total_tokens: form.input_tokens + form.output_tokens,
      estimated: false,
    };
  }
  let input = estimateTokens(request.system);
  if (request.tools.length > 0) input += estimateTokens(JSON.stringify(request.tools));
  for (const message of request.messages) {
    const calls = (message.tool_calls ?? []).map((call) => `${call.function.name}${call.function.arguments}`).join('');
    input += estimateTokens(message.content + calls) + 4;
  }
  const output_tokens = output === '' ? 0 : estimateTokens(output) + 4;
  return {
    input_tokens: input,
    output_tokens,
    reasoning_tokens: 0,
    cached_input_tokens: 0,
    total_tokens: input + output_tokens,
    estimated: true,
  };
}
