import type { IncomingMessage } from 'node:http';
import { readStrictJson } from '../text/strict-json.ts';
import { refuse } from './error-body.ts';

export const jsonBodyBytes = 1024 * 1024;
/** A chain or a policy as text. */
export const documentBodyBytes = 2 * 1024 * 1024;
export const loginBodyBytes = 4096;
const maxDepth = 64;
const refusedKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Whether a body follows the head, of whatever length. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;

/** JSON and nothing else (09 §3.5). @throws RuntimeError json_required */
export function checkMediaType({ headers }: IncomingMessage): void {
  const [type = '', ...parameters] = (headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  const readable = charset === undefined || charset === 'utf-8' || charset === '"utf-8"';
  if (type === 'application/json' && readable && headers['content-encoding'] === undefined) return;
  const param = headers['content-encoding'] === undefined ? 'Content-Type' : 'Content-Encoding';
  throw refuse('json_required', 'A body is application/json in UTF-8, and not compressed.', { param });
}

/**
 * Reads a body to its end, at most so many bytes. @returns undefined for an empty one
 * @throws RuntimeError request_too_large, json_too_deep, invalid_body
 */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const tooLarge = () => refuse('request_too_large', `The body is larger than ${maxBytes} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const bytes = await readBytes(request, maxBytes);
  if (bytes === null) throw tooLarge();
  if (bytes.length === 0) return undefined;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refuse('invalid_body', 'The body is not UTF-8.');
  }
  const read = readStrictJson(text, maxDepth);
  if (!read.ok) {
    if (read.problem === 'too_deep')
      throw refuse('json_too_deep', `The body is nested deeper than ${maxDepth} levels.`);
    throw refuse('invalid_body', `The body is not JSON: ${read.message} (line ${read.line}, column ${read.column}).`);
  }
  if (read.duplicates[0] !== undefined) {
    throw refuse('invalid_body', 'A member occurs twice.', { param: read.duplicates[0].replace(/^\$\.?/, '') });
  }
  const refused = refusedKey(read.value, '');
  if (refused !== null) throw refuse('invalid_body', 'A member has a name that is not accepted.', { param: refused });
  return read.value;
}

/** Null when it was longer. Rejects when the client goes away. */
function readBytes(request: IncomingMessage, maxBytes: number): Promise<Uint8Array | null> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const settle = (act: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      act();
    };
    const onData = (chunk: Uint8Array): void => {
      length += chunk.length;
      if (length > maxBytes) settle(() => resolve(null));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks)));
    const onError = (error: Error): void => settle(() => reject(error));
    const onClose = (): void => onError(new Error('the client went away'));
    request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  });
}

/** Path of the first member whose name could reach the prototype of an object. */
function refusedKey(value: unknown, path: string): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${name}]` : `${path}${path === '' ? '' : '.'}${name}`;
    if (!Array.isArray(value) && refusedKeys.has(name)) return at;
    const below = refusedKey(member, at);
    if (below !== null) return below;
  }
  return null;
}
