import { shownImage } from './image-words.ts';
import type { RunEvent } from '../schema/event.ts';
import { appendOutput, type CallItem, type Item } from './items.ts';
import { closeOpen, closeReasoning, createDraft, type Draft } from './transcript-draft.ts';
import { note } from './transcript-notes.ts';

/** Items in order. A new value for each change: what did not change is the same object. */
export type Transcript = { readonly items: readonly Item[] };

export const emptyTranscript: Transcript = { items: [] };

/** Folds events of a run into the transcript (10 §5.1); pure, and the same for stored and for live events. */
export function reduceTranscript(transcript: Transcript, events: readonly RunEvent[]): Transcript {
  const draft = createDraft(transcript.items);
  for (const event of events) apply(draft, event);
  return draft.changed() ? { items: draft.items() } : transcript;
}

function apply(draft: Draft, event: RunEvent): void {
  switch (event.kind) {
    case 'step_chunk':
      chunk(draft, event);
      return;
    case 'step_stream_end': {
      const { reasoning_tokens: tokens, estimated } = event.usage;
      const thought = draft.items().findLast((item) => item.kind === 'reasoning');
      if (thought?.kind === 'reasoning' && thought.id.startsWith(`${event.run_id}:`) && tokens > 0 && !estimated)
        draft.replace(thought, { ...thought, tokens: thought.tokens ?? tokens });
      return;
    }
    case 'message':
      if (event.working !== true) message(draft, event);
      return;
    case 'step_failed':
      closeOpen(draft, event.timestamp, 'partial');
      return;
    case 'tool_call_pending':
      begins(draft, event);
      return;
    case 'policy_decision':
      call(draft, event.call_id, () => ({
        decision: {
          action: event.action,
          rule: event.rule,
          reason: event.reason,
          detail: event.detail ?? null,
          policy: event.policy.name,
        },
        ...(event.action === 'deny' ? { state: 'denied' as const } : {}),
      }));
      return;
    case 'ask':
      ask(draft, event);
      return;
    case 'verdict':
      verdict(draft, event);
      return;
    case 'tool_call_started':
      call(draft, event.call_id, () => ({ state: 'running', error: null, started_at: event.timestamp }));
      return;
    case 'tool_output':
      call(draft, event.call_id, (item) => ({ output: appendOutput(item.output, event.text) }));
      return;
    case 'tool_call':
      // Who follows a run from its middle on has not seen the call begin.
      if (draft.find('call', event.call_id) === undefined)
        draft.push({ ...emptyCall(event.call_id, event.run_id), tools: event.tools, tool: event.tool });
      call(draft, event.call_id, () => ({
        state: event.ok ? 'ok' : event.error === 'denied' ? 'denied' : 'failed',
        error: event.error ?? null,
        result: typeof event.result === 'string' ? event.result : JSON.stringify(event.result),
        bytes: event.result_bytes,
        ms: event.duration_ms,
      }));
      return;
    default:
      note(draft, event);
      return;
  }
}

function chunk(draft: Draft, event: Extract<RunEvent, { kind: 'step_chunk' }>): void {
  // What was thought before the text is known where the text is.
  const known = event.from_start === true && draft.open('assistant') !== undefined;
  if (event.thinking !== undefined && event.thinking !== '' && !known) {
    const open = draft.open('reasoning');
    if (open !== undefined)
      draft.replace(open, { ...open, text: event.from_start === true ? event.thinking : open.text + event.thinking });
    else
      draft.push({
        kind: 'reasoning',
        id: `${event.run_id}:${event.timestamp}:thinking`,
        text: event.thinking,
        state: 'streaming',
        started_at: event.timestamp,
        ms: null,
      });
  }
  if (event.content !== undefined && event.content !== '') {
    closeReasoning(draft, event.timestamp);
    const open = draft.open('assistant');
    if (open !== undefined)
      draft.replace(open, { ...open, text: event.from_start === true ? event.content : open.text + event.content });
    else
      draft.push({
        kind: 'assistant',
        id: `${event.run_id}:${event.timestamp}:text`,
        text: event.content,
        state: 'streaming',
        seq: null,
      });
  }
}

/** The durable message holds the whole text, so a reader that missed deltas heals here. */
function message(draft: Draft, event: Extract<RunEvent, { kind: 'message' }>): void {
  const { message: given } = event;
  if (given.role === 'user') {
    const pending = draft.items().findLast((item) => item.kind === 'user' && item.state === 'pending');
    const along = given.images === undefined ? {} : { images: given.images.map(shownImage) };
    if (pending?.kind === 'user') draft.replace(pending, { ...pending, ...along, state: 'sent', message_id: given.id });
    else if (draft.find('user', given.id) === undefined)
      draft.push({ kind: 'user', id: given.id, text: given.content, ...along, state: 'sent', seq: null });
    return;
  }
  if (given.role !== 'assistant') return;
  if (given.thinking !== undefined && given.thinking.trim() !== '') {
    const open = draft.items().findLast((item) => item.kind === 'reasoning');
    const streamed = open?.kind === 'reasoning' && open.id.startsWith(`${event.run_id}:`) ? open.text : '';
    const known = wholeOf(event, given.thinking, streamed) === streamed;
    if (!known && draft.open('reasoning') === undefined)
      draft.push({
        kind: 'reasoning',
        id: `${given.id}:thinking`,
        text: given.thinking,
        state: 'complete',
        started_at: null,
        ms: null,
      });
  }
  closeReasoning(draft, event.timestamp);
  const open = draft.open('assistant');
  const state = given.interrupted === true ? 'partial' : 'complete';
  if (open !== undefined) {
    if (given.content.trim() === '') draft.remove(open);
    else
      draft.replace(open, {
        ...open,
        text: wholeOf(event, given.content, open.text),
        state,
        message_id: given.id,
      });
  } else if (given.content.trim() !== '') {
    draft.push({ kind: 'assistant', id: given.id, text: given.content, state, seq: null });
    if (event.truncated?.includes('message') === true)
      draft.push({ kind: 'notice', id: `${given.id}:cut`, level: 'info', text: cutHere });
  }
}

const cutHere = 'the text above goes on: it is whole when the session is opened again';

/** Long texts are cut in events (04 §18.3): what was streamed of one is the better copy. */
const wholeOf = ({ truncated }: RunEvent, given: string, streamed: string): string =>
  truncated?.includes('message') === true && streamed.startsWith(given) ? streamed : given;

export const emptyCall = (id: string, runId: string | null): CallItem => ({
  kind: 'call',
  id,
  run_id: runId,
  batch: null,
  tools: '',
  tool: '',
  args: null,
  state: 'pending',
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
});

/** A call of a stored message stands there already when its run goes on, and has no result yet. */
function begins(draft: Draft, event: Extract<RunEvent, { kind: 'tool_call_pending' }>): void {
  const { call_id, run_id, tools, tool, args } = event;
  const known = draft.find('call', call_id);
  if (known !== undefined && known.run_id === run_id && known.result === null)
    draft.replace(known, { ...known, state: 'pending', error: null, tools, tool, args });
  else draft.push({ ...emptyCall(call_id, run_id), batch: batchOf(draft, event), tools, tool, args });
}

/** A batch is named after its first call. */
function batchOf(draft: Draft, event: Extract<RunEvent, { kind: 'tool_call_pending' }>): string | null {
  if (event.batch_index === 0) return event.call_id;
  const before = draft.items().findLast((item) => item.kind === 'call');
  return before?.kind === 'call' && before.run_id === event.run_id ? before.batch : null;
}

function call(draft: Draft, id: string, change: (item: CallItem) => Partial<CallItem>): void {
  const item = draft.find('call', id);
  if (item !== undefined) draft.replace(item, { ...item, ...change(item) });
}

function ask(draft: Draft, event: Extract<RunEvent, { kind: 'ask' }>): void {
  const item = event.call_id === null ? undefined : draft.find('call', event.call_id);
  if (item !== undefined) {
    // A call that had begun when its process ended waits, too: for somebody to say what became of it.
    const asked = { ask_id: event.ask_id, diff: event.diff ?? null, verdict: null };
    draft.replace(item, { ...item, state: 'pending', error: null, ...asked });
    return;
  }
  draft.push({
    kind: 'ask',
    id: event.ask_id,
    run_id: event.run_id,
    tools: event.tools,
    tool: event.tool,
    summary: event.summary,
    verdict: null,
  });
}

/** Nothing was denied of a call that is skipped: what had begun is not done again. */
export const verdictWord = (given: { readonly verdict: string; readonly treat_as?: string | undefined }): string =>
  given.treat_as === 'skip' ? 'skipped' : given.verdict;

function verdict(draft: Draft, event: Extract<RunEvent, { kind: 'verdict' }>): void {
  const given = { ask_id: event.ask_id, verdict: verdictWord(event), by: event.by, at: event.timestamp };
  const item = event.call_id === null ? undefined : draft.find('call', event.call_id);
  if (item !== undefined && item.ask_id === event.ask_id) {
    draft.replace(item, { ...item, verdict: given });
    return;
  }
  const asked = draft.find('ask', event.ask_id);
  if (asked !== undefined) draft.replace(asked, { ...asked, verdict: given });
}
