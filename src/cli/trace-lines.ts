import type { RunEvent } from '../schema/event.ts';

const pair = (key: string, value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // Quoted as JSON when it is needed; that also keeps control characters out of the line.
  return `${key}=${/^[\w@%+:,./-]+$/.test(text) ? text : JSON.stringify(text)}`;
};

/** One line of a trace: time, level, what it is about, and members. */
export const traceRecord = (ts: string, msg: string, members: Readonly<Record<string, unknown>>): string =>
  [
    pair('ts', ts),
    pair('level', members['level'] === 'warn' ? 'warn' : 'info'),
    pair('msg', msg),
    ...Object.entries(members)
      .filter(([key, value]) => key !== 'level' && value !== undefined && value !== null)
      .map(([key, value]) => pair(key, value)),
  ].join(' ');

/** Members that hold what was said, asked or answered: a trace has sizes and names only (08 §11.5). */
const content = new Set(['args', 'result', 'output', 'diff', 'text', 'data', 'usage', 'summary', 'detail', 'feedback']);
/** Handlers whose evals are words of ours; those of others are what a model or a tool has said. */
const ownEvals = new Set(['chat_completion', 'execute_tool_calls']);

/** The line of an event; null for a piece of an answer or of an output. */
export function traceLine(event: RunEvent): string | null {
  if (event.kind === 'step_chunk' || event.kind === 'tool_output') return null;
  const { kind, timestamp, v: _version, seq, run_id, session_id, chain_id: _chain, ...own } = event;
  const members: Record<string, unknown> = { run_id, session_id, seq };
  for (const [key, value] of Object.entries(own)) {
    if (content.has(key) || (key === 'eval' && !ownEvals.has(event.task_handler ?? ''))) continue;
    const name = key === 'task_id' ? 'task' : key;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) members[name] = value;
    else if ('name' in value) members[name] = value.name;
    else if ('class' in value) members[name] = value.class;
  }
  return traceRecord(timestamp, kind, members);
}
