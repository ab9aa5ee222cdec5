import type { SessionMessage as Stored } from '../schema/session.ts';
import type { Known } from '../schema/shape.ts';
import { readJson } from '../text/read-json.ts';
import { readable } from './call-lines.ts';
import type { CallItem, Item } from './items.ts';
import { emptyCall, verdictWord } from './transcript.ts';

type SessionMessage = Known<typeof Stored>;

/** Items of stored messages, in order (10 §5.1). Results stand with their calls; one without its call stands alone. */
export function storedItems(messages: readonly SessionMessage[]): readonly Item[] {
  const items: Item[] = [];
  const places = new Map<string, number>();
  for (const message of messages) {
    if (message.role === 'tool') {
      const at = message.tool_call_id === null ? undefined : places.get(message.tool_call_id);
      const item = at === undefined ? undefined : items[at];
      if (at !== undefined && item?.kind === 'call') items[at] = withResult(item, message.text);
      continue;
    }
    for (const item of itemsOf(message)) {
      if (item.kind === 'call') places.set(item.id, items.length);
      items.push(item);
    }
  }
  return items;
}

function itemsOf(message: SessionMessage): readonly Item[] {
  const { id, seq, text, kind } = message;
  // What a turn that failed has left (07 §2.7) is marked as it was when it failed.
  if (kind === 'note') return [{ kind: 'notice', id, level: text.startsWith('failed (') ? 'error' : 'info', text }];
  if (kind === 'summary') return [{ kind: 'notice', id, level: 'info', text: `summary of what was before: ${text}` }];
  if (message.role === 'user') {
    const { images } = message;
    return [{ kind: 'user', id, text, ...(images === undefined ? {} : { images }), state: 'sent', seq }];
  }
  if (message.role === 'system') return [];
  return [
    ...(message.thinking === null || message.thinking.trim() === ''
      ? []
      : [
          {
            kind: 'reasoning',
            id: `${id}:thinking`,
            text: message.thinking,
            state: 'complete',
            started_at: null,
            ms: null,
          } as const,
        ]),
    ...(text.trim() === '' ? [] : [{ kind: 'assistant', id, text, state: message.status, seq } as const]),
    ...message.tool_calls.map((call): CallItem => {
      const [tools = '', ...tool] = call.name.split('.');
      const named = tool.length > 0;
      return {
        ...emptyCall(call.id, message.run_id),
        batch: id,
        // As the model has called it, where nobody knows which tool that was.
        tools: named ? tools : '',
        tool: named ? tool.join('.') : call.name,
        args: parsed(call.arguments),
        ...decided(call.record),
      };
    }),
  ];
}

/** What its events would have said of it. */
function decided(record: SessionMessage['tool_calls'][number]['record']): Partial<CallItem> {
  if (record === undefined) return {};
  const { tools, tool, decision, ask_id, verdict, state, duration_ms } = record;
  return {
    tools,
    tool,
    // Until its result comes. What goes on is shown from its events.
    ...(begun.has(state) ? { state: 'failed', error: 'outcome_unknown' } : {}),
    decision: decision === null ? null : { ...decision, rule: decision.matched_rule },
    ask_id,
    verdict:
      ask_id === null || verdict === null
        ? null
        : { ask_id, verdict: verdictWord(verdict), by: verdict.by, at: verdict.at },
    ms: duration_ms,
  };
}

const begun: ReadonlySet<string> = new Set(['started', 'unknown']);

/** Arguments are text as the model wrote it, which need not be JSON. */
const parsed = (text: string): unknown => readJson<unknown>(text, text);

/** A failed call's result is an object that says so (05 §1.6). */
function withResult(item: CallItem, text: string): CallItem {
  const said = parsed(text);
  const failure =
    typeof said === 'object' && said !== null && Reflect.get(said, 'ok') === false
      ? String(Reflect.get(said, 'error'))
      : null;
  return {
    ...item,
    result: text.length <= mostOfResult ? text : beginningOf({ ...item, result: text }),
    bytes: new TextEncoder().encode(text).length,
    error: failure,
    state: failure === null ? 'ok' : failure === 'denied' ? 'denied' : 'failed',
  };
}

/** Longer results are not held: whoever wants to read one whole reads it from the record of its run (10 §5.2). */
const mostOfResult = 262_144;

/** A copy, since a piece of a string keeps the whole of it alive. */
const beginningOf = (item: CallItem): string =>
  new TextDecoder().decode(new TextEncoder().encode(readable(item).slice(0, mostOfResult)));
