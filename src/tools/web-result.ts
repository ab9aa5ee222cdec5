import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { parseShallowJson } from '../text/exact-json.ts';
import { fail } from './failure.ts';
import { htmlToText } from './html-text.ts';
import type { ToolContext, ToolResult } from './tool.ts';
import type { Reply } from './web-request.ts';

type Answer = Extract<Reply, { kind: 'reply' }>;

/** Of the headers of an answer only these are told (05 §5.4). */
const shownHeaders = ['content-type', 'content-length', 'last-modified', 'etag', 'location', 'retry-after'];
const maxErrorBody = 4096;

/** What a model sees of an answer: JSON parsed, text decoded, HTML reduced, anything else as a file of the spool. */
export async function webResult(
  answer: Answer,
  url: string,
  method: string,
  format: 'text' | 'raw',
  context: ToolContext<unknown>,
): Promise<ToolResult> {
  const headers = shown(answer);
  const type = headers['content-type'] ?? '';
  if (answer.status < 200 || answer.status > 299) {
    const body = isText(type, answer.body) ? decode(answer.body, type).slice(0, maxErrorBody) : null;
    const location = headers['location'] === undefined ? {} : { location: headers['location'] };
    return fail('http_status', `The server answered ${answer.status}.`, { status: answer.status, body, ...location });
  }
  const common = { status: answer.status, url, content_type: type === '' ? null : type, headers };
  const truncated = answer.truncated ? { truncated: true } : {};
  if (method === 'HEAD') return { ok: true, value: { ...common, body: null } };
  if (isText(type, answer.body)) {
    const body = await textBody(answer, type, url, format, context.signal);
    return { ok: true, value: { ...common, body, ...truncated } };
  }
  const { members, output_ref } = spooledBody(answer, context);
  return {
    ok: true,
    value: { ...common, body: null, ...members, ...truncated },
    ...(output_ref === null ? {} : { output_ref }),
  };
}

/** A body that is no text, kept as a file of the spool. */
export function spooledBody(
  answer: Pick<Answer, 'body'>,
  context: ToolContext<unknown>,
): { readonly members: Readonly<Record<string, unknown>>; readonly output_ref: string | null } {
  const kept = context.ports.spool.put(context.run_id, context.call_id, answer.body);
  if (kept.name === null) {
    const message = `The answer of a web call could not be kept ${kept.fault}`;
    context.emit({ kind: 'notice', level: 'warn', code: 'spool_full', message });
  }
  const members = {
    output: kept.name,
    bytes: answer.body.length,
    sha256: createHash('sha256').update(answer.body).digest('hex'),
    ...(kept.name !== null && kept.truncated ? { spool_truncated: true } : {}),
  };
  return { members, output_ref: kept.name };
}

function shown(answer: Answer): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const name of shownHeaders) {
    const value = answer.headers[name];
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return headers;
}

export const mediaOf = (type: string): string => (type.split(';')[0] ?? '').trim().toLowerCase();
export const isJson = (media: string): boolean => media === 'application/json' || media.endsWith('+json');
const isHtml = (media: string): boolean => media === 'text/html' || media === 'application/xhtml+xml';

export function isText(type: string, body: Buffer): boolean {
  const media = mediaOf(type);
  if (media === '') return isUtf8(body) && !body.includes(0);
  if (media.startsWith('text/') || isJson(media) || media.endsWith('+xml') || media.endsWith('+yaml')) return true;
  return /^application\/(?:xml|xhtml\+xml|javascript|ecmascript|yaml|x-yaml|toml|sql|graphql|x-ndjson|jsonl|x-www-form-urlencoded)$/.test(
    media,
  );
}

async function textBody(
  answer: Answer,
  type: string,
  url: string,
  format: 'text' | 'raw',
  signal: AbortSignal,
): Promise<unknown> {
  const media = mediaOf(type);
  const text = decode(answer.body, type);
  if (isJson(media) && !answer.truncated) {
    try {
      return parseShallowJson(text);
    } catch {
      return text;
    }
  }
  return isHtml(media) && format === 'text' ? htmlToText(text, url, signal) : text;
}

/** By the charset that the header names, else by that which a page names itself. */
export function decode(body: Buffer, type: string): string {
  const named = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(type)?.[1];
  const charset = named ?? (isHtml(mediaOf(type)) ? ownCharset(body) : undefined) ?? 'utf-8';
  try {
    const decoder = new TextDecoder(charset);
    // In one piece Node takes windows-1252, which is what iso-8859-1 means, for real Latin-1: quotes become controls.
    return decoder.decode(body, { stream: true }) + decoder.decode();
  } catch {
    return body.toString('utf8');
  }
}

/** HTML says it in its first 1,024 bytes. */
const ownCharset = (page: Buffer): string | undefined =>
  /<meta\s[^>]*charset\s*=\s*["']?([\w.:-]+)/i.exec(page.toString('latin1', 0, 1024))?.[1];
