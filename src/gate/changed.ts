import type { CallRequest } from '../schema/protocol.ts';
import type { ChangedArguments, GateRun } from './run.ts';
import type { RequestedCall } from './stages.ts';

/** The call as it goes on, judged anew in every respect: its id is all that it keeps. */
export function changeCall(run: GateRun, request: CallRequest, args: ChangedArguments): CallRequest {
  run.changed.set(request.call_id, args);
  return { ...request, arguments: JSON.stringify(args) };
}

const note = 'The operator changed the arguments of this call';

/** Part of a result's room that the changed arguments may take. */
const share = 0.5;

/** How much of a result's room the words about changed arguments take; 0 for a call that nobody changed. */
export const changeBytes = (call: RequestedCall): number =>
  call.run.changed.has(call.request.call_id) ? Buffer.byteLength(withChange(call, '')) : 0;

/**
 * What the model is told of its call, with the arguments that stood in the place of its own where the operator changed
 * them. An error stays the one object that it is.
 */
export function withChange({ run, request }: RequestedCall, content: string): string {
  const args = run.changed.get(request.call_id);
  if (args === undefined) return content;
  const told = shortened(args, Math.floor(request.max_result_bytes * share));
  const error = errorOf(content);
  if (error !== null) return JSON.stringify({ ...error, note: `${note}.`, changed_arguments: told });
  return `[${note}. It ran with: ${JSON.stringify(told)}]\n${content}`;
}

function errorOf(content: string): object | null {
  if (!content.startsWith('{"ok":false')) return null;
  try {
    const error: unknown = JSON.parse(content);
    return typeof error === 'object' ? error : null;
  } catch {
    // A tool may print what only begins like one.
    return null;
  }
}

/** Long texts give way first: names and short values say the most. */
function shortened(args: ChangedArguments, max: number): ChangedArguments | string {
  if (Buffer.byteLength(JSON.stringify(args)) <= max) return args;
  const entries = Object.entries(args);
  const each = Math.floor(max / (entries.length * 8));
  const short = entries.map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const left = text.length - each;
    return [name, left <= 0 ? value : `${text.slice(0, each).toWellFormed()}[… ${left} characters left out]`];
  });
  const cut = Object.fromEntries(short) as ChangedArguments;
  return Buffer.byteLength(JSON.stringify(cut)) <= max ? cut : 'too long to be shown here';
}
