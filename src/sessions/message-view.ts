import { unframedSummary } from '../chain/summary-frame.ts';
import type { SessionMessage } from '../schema/session.ts';
import type { Calls } from '../store/calls.ts';
import { maxPayloadBytes, type MessageRow } from '../store/messages.ts';
import { isObject } from '../text/json-object.ts';
import { stamp } from '../text/stamp.ts';

const roles: readonly string[] = ['system', 'user', 'assistant', 'tool'];
const kinds: readonly string[] = ['message', 'summary', 'note'];
const statuses: readonly string[] = ['complete', 'partial', 'failed'];
export const isRole = (text: string): text is SessionMessage['role'] => roles.includes(text);

/** Stored rows as people see them, calls with what is on record of them. */
export function messageViews(
  rows: readonly MessageRow[],
  withTools: boolean,
  calls: Pick<Calls, 'records'>,
): SessionMessage[] {
  const views = rows.map((row) => messageView(row, withTools));
  const ofRuns = new Map<string, string[]>();
  for (const { run_id, tool_calls } of views) {
    if (run_id === null || tool_calls.length === 0) continue;
    ofRuns.set(run_id, [...(ofRuns.get(run_id) ?? []), ...tool_calls.map(({ id }) => id)]);
  }
  const records = new Map([...ofRuns].map(([run, ids]) => [run, calls.records(run, ids)]));
  return views.map((view) => {
    const known = view.run_id === null ? undefined : records.get(view.run_id);
    if (known === undefined || known.size === 0) return view;
    return {
      ...view,
      tool_calls: view.tool_calls.map((call) => {
        const record = known.get(call.id);
        return record === undefined ? call : { ...call, record };
      }),
    };
  });
}

/** A stored row as people see it. One that cannot be read says so and keeps its place (07 §1.3). */
function messageView(row: MessageRow, withTools: boolean): SessionMessage {
  const body = parseBody(row.payload);
  const known = isRole(row.role) && kinds.includes(row.kind) && statuses.includes(row.status);
  const readable = known && body !== null && typeof body['content'] === 'string';
  return {
    seq: row.seq,
    id: row.id,
    role: isRole(row.role) ? row.role : 'assistant',
    kind: known ? row.kind : 'message',
    status: known ? row.status : 'failed',
    text: readable ? shownText(row, textOf(body['content'])) : '[unreadable message]',
    ...(readable ? imagesOf(body['images']) : {}),
    thinking: readable && typeof body['thinking'] === 'string' ? body['thinking'] : null,
    tool_calls: readable && withTools ? callsOf(body['tool_calls']) : [],
    tool_call_id: readable && typeof body['tool_call_id'] === 'string' ? body['tool_call_id'] : null,
    run_id: row.run_id,
    error: parseJson(row.error),
    created_at: stamp(row.created_at),
  };
}

type Body = { readonly [member: string]: unknown };

function parseBody(payload: string): Body | null {
  if (Buffer.byteLength(payload) > maxPayloadBytes) return null;
  const value = parseJson(payload);
  return isObject(value) ? value : null;
}

function parseJson(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** People read a summary without the frame that marks it for a model. */
const shownText = ({ kind }: MessageRow, text: string): string => (kind === 'summary' ? unframedSummary(text) : text);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function imagesOf(value: unknown): Pick<SessionMessage, 'images'> {
  if (!Array.isArray(value) || value.length === 0) return {};
  const images = value.filter(isObject).map(({ name, mime_type, bytes }) => ({
    name: typeof name === 'string' ? name : null,
    mime_type: textOf(mime_type),
    bytes: typeof bytes === 'number' ? bytes : null,
  }));
  return { images };
}

function callsOf(value: unknown): SessionMessage['tool_calls'] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).map((call) => {
    const named = isObject(call['function']) ? call['function'] : {};
    return { id: textOf(call['id']), name: textOf(named['name']), arguments: textOf(named['arguments']) };
  });
}
