import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { HookRow } from '../store/hooks.ts';
import { codeOf, messageOf } from '../text/thrown.ts';
import { fail, isFailure, type ToolFailure } from '../tools/failure.ts';
import { parseTarget } from '../tools/egress.ts';
import { registeredHeaders } from '../tools/hooks/hook-tool.ts';
import { sendToService } from '../tools/hooks/hook-send.ts';
import type { HookPorts, HookService } from '../tools/hooks/hook-service.ts';
import { type Operations, operationsOf } from '../tools/openapi/operations.ts';
import { maxDocumentBytes, readDocument, type ReadYaml, type ServiceDocument } from '../tools/openapi/read-document.ts';

/** What a look at the description of a service gave. */
export type Looked =
  | {
      readonly kind: 'read';
      readonly operations: Operations;
      readonly text: string;
      readonly sha256: string;
      readonly etag: string | null;
    }
  /** The server, or the file, says that it is what it was. */
  | { readonly kind: 'unchanged'; readonly etag: string | null }
  | { readonly kind: 'failed'; readonly failure: ToolFailure };

export type LookPorts = {
  readonly own: HookPorts;
  readonly elsewhere: Pick<HookPorts, 'egress'>;
  readonly readYaml: ReadYaml;
  readonly timeoutMs?: number;
};

/** 05 §9.3.3. */
const fetchMs = 10_000;

/** Where a service is described. */
export const specificationOf = ({ url, spec }: Pick<HookRow, 'url' | 'spec'>): string => spec ?? `${url}/openapi.json`;

export const isUrl = (spec: string): boolean => /^https?:\/\//i.test(spec);

/**
 * Looks at the description of a service: fetches it, or reads its file (05 §9.3). Never rejects.
 * @param whole also when it is what it was
 */
export async function lookAtSpecification(
  row: HookRow,
  service: HookService,
  ports: LookPorts,
  whole: boolean,
  signal: AbortSignal,
): Promise<Looked> {
  const place = specificationOf(row);
  const got = isUrl(place) ? await fetched(row, place, service, ports, whole, signal) : fromFile(row, place, whole);
  if (got.kind !== 'bytes') return got;
  const read = await readDocument(got.bytes, ports.readYaml);
  if (!read.ok) return failed(`${read.message} (${place.slice(0, 200)})`);
  const operations = operationsOf(read.document, pathBelow(service.url, place));
  const sha256 = createHash('sha256').update(got.bytes).digest('hex');
  return { kind: 'read', operations, text: storedText(read.document, got.bytes), sha256, etag: got.etag };
}

/** JSON, which is read again in a moment; as it came where that would be more than may be read. */
function storedText({ root }: ServiceDocument, bytes: Uint8Array): string {
  const json = JSON.stringify(root);
  return Buffer.byteLength(json) <= maxDocumentBytes ? json : new TextDecoder().decode(bytes);
}

/** The operations of a description that is stored. */
export async function operationsOfText(
  service: HookService,
  place: string,
  text: string,
  readYaml: ReadYaml,
): Promise<Operations> {
  const read = await readDocument(Buffer.from(text), readYaml);
  return read.ok
    ? operationsOf(read.document, pathBelow(service.url, place))
    : { definitions: [], skipped: [], serverPaths: [] };
}

const failed = (message: string): Extract<Looked, { kind: 'failed' }> => ({
  kind: 'failed',
  failure: fail('bad_spec', message),
});

type Got =
  | Exclude<Looked, { kind: 'read' }>
  | { readonly kind: 'bytes'; readonly bytes: Buffer; readonly etag: string | null };

/** A file is read again when its size, time or inode is another one (05 §9.3.4). */
function fromFile(row: HookRow, path: string, whole: boolean): Got {
  try {
    const stats = statSync(path);
    const { size, mtimeMs, ino } = stats;
    if (!stats.isFile()) return failed(`the description ${path} is no regular file any more`);
    const etag = `${size} ${mtimeMs} ${ino}`;
    if (!whole && row.spec_sha256 !== null && row.spec_etag === etag) return { kind: 'unchanged', etag };
    if (size > maxDocumentBytes) return failed(`the description ${path} is larger than ${maxDocumentBytes} bytes`);
    return { kind: 'bytes', bytes: readFileSync(path), etag };
  } catch (error) {
    return failed(`the description ${path} cannot be read: ${codeOf(error) ?? messageOf(error)}`);
  }
}

async function fetched(
  row: HookRow,
  place: string,
  service: HookService,
  ports: LookPorts,
  whole: boolean,
  signal: AbortSignal,
): Promise<Got> {
  const target = parseTarget(place);
  if (typeof target === 'string') return failed(`the URL of the description ${target}`);
  // What was registered for a service goes to no other one.
  const isOwn = target.url.origin === new URL(service.url).origin;
  const headers = isOwn ? registeredHeaders(service, ports.own) : { values: {}, secrets: [] };
  if (isFailure(headers)) return { kind: 'failed', failure: headers };
  const { egress } = isOwn ? ports.own : ports.elsewhere;
  const fault = egress.nameFault(target);
  if (fault !== null) return { kind: 'failed', failure: fault };
  const condition: Record<string, string> =
    whole || row.spec_sha256 === null || row.spec_etag === null ? {} : { 'if-none-match': row.spec_etag };
  const timeoutMs = ports.timeoutMs ?? fetchMs;
  const answer = await sendToService(
    {
      method: 'GET',
      target,
      headers: { accept: 'application/json, application/yaml;q=0.9, */*;q=0.5', ...headers.values, ...condition },
      body: null,
      timeoutMs,
      maxBytes: maxDocumentBytes,
      limit: `${timeoutMs / 1000} s`,
    },
    { egress, userAgent: ports.own.userAgent },
    signal,
  );
  if (isFailure(answer)) return { kind: 'failed', failure: answer };
  const etag = typeof answer.headers['etag'] === 'string' ? answer.headers['etag'].slice(0, 500) : null;
  if (answer.status === 304) return { kind: 'unchanged', etag: etag ?? row.spec_etag };
  if (answer.status === 401 || answer.status === 403) {
    const message = `${target.host} wants other credentials for its description (${answer.status})`;
    return { kind: 'failed', failure: fail('auth_failed', message) };
  }
  if (answer.status !== 200) {
    const mend = row.spec === null ? '; --spec says where it is' : '';
    return failed(`${target.host} answered ${answer.status} instead of a description${mend}`);
  }
  if (answer.truncated) return failed(`the description is larger than ${maxDocumentBytes} bytes`);
  return { kind: 'bytes', bytes: answer.body, etag };
}

/** The path of a place below the base URL; null when it is elsewhere. */
function pathBelow(url: string, place: string): string | null {
  if (!place.startsWith(`${url}/`)) return null;
  return (place.slice(url.length).split(/[?#]/)[0] ?? '') || null;
}
