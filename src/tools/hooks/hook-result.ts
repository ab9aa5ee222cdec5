import { parseShallowJson } from '../../text/exact-json.ts';
import { fail, type ToolFailure } from '../failure.ts';
import type { ToolContext, ToolResult } from '../tool.ts';
import { decode, isJson, isText, mediaOf, spooledBody } from '../web-result.ts';
import type { Answer } from './hook-send.ts';

const maxErrorBody = 4096;
/** Shorter values are too likely to stand in an answer by chance (05 §9.5.6). */
const minHidden = 6;

/** What a model sees of an answer (05 §9.5.5): nothing, JSON, text, or a file of the spool; hidden values taken out. */
export function hookResult(
  answer: Answer,
  method: string,
  hidden: readonly string[],
  context: ToolContext<unknown>,
): ToolResult {
  const type = String(answer.headers['content-type'] ?? '');
  const hide = hider(hidden);
  const readable = isText(type, answer.body);
  if (answer.status < 200 || answer.status > 299) {
    const body = readable ? hide(decode(answer.body, type)).slice(0, maxErrorBody) : null;
    return fail('http_status', `The service answered ${answer.status}.`, { status: answer.status, body });
  }
  if (method === 'HEAD' || answer.body.length === 0) return { ok: true, value: null };
  if (!readable) {
    const { members, output_ref } = spooledBody(answer, context);
    const value = { content_type: type === '' ? null : type, ...members, ...cutNote(answer) };
    return { ok: true, value, ...(output_ref === null ? {} : { output_ref }) };
  }
  const text = decode(answer.body, type);
  if (answer.truncated) return { ok: true, value: { ...cutNote(answer), text: hide(text) } };
  return { ok: true, value: isJson(mediaOf(type)) ? jsonOf(text, hide) : hide(text) };
}

/** A failure whose members come from the service, such as the location of a redirect. */
export function hiddenFailure(failure: ToolFailure, hidden: readonly string[]): ToolFailure {
  if (failure.extra === undefined) return failure;
  const hide = hider(hidden);
  return {
    ...failure,
    extra: Object.fromEntries(Object.entries(failure.extra).map(([key, value]) => [key, hideDeep(value, hide)])),
  };
}

const cutNote = ({ truncated }: Answer): object => (truncated ? { truncated: true } : {});

function jsonOf(text: string, hide: (text: string) => string): unknown {
  try {
    return hideDeep(parseShallowJson(text), hide);
  } catch {
    return hide(text);
  }
}

function hider(values: readonly string[]): (text: string) => string {
  const wanted = values.filter((value) => value.length >= minHidden).sort((a, b) => b.length - a.length);
  return (text) => wanted.reduce((left, value) => left.replaceAll(value, '(injected)'), text);
}

function hideDeep(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value);
  if (typeof value === 'number') {
    const text = String(value);
    const shown = hide(text);
    return shown === text ? value : shown;
  }
  if (Array.isArray(value)) return value.map((one) => hideDeep(one, hide));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [hide(key), hideDeep(member, hide)]));
}
