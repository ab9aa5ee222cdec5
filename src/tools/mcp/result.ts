import { fail, type ToolFailure } from '../failure.ts';
import type { ToolContext, ToolResult } from '../tool.ts';
import type { CallEnd } from './call-end.ts';
import { type Credentials, refusedCredentials } from './credentials.ts';
import { isObject } from '../../text/json-object.ts';

type Where = Pick<ToolContext<unknown>, 'run_id' | 'call_id' | 'ports' | 'emit'>;
type Members = Readonly<Record<string, unknown>>;

const invalidParams = -32_602;
const shownBytes = 4096;
/** Files that one result is kept in: a server may answer with as many images as 16 MiB hold. */
const mostFiles = 100;

/** What a server answered, for the model (05 §10.5.4). Nothing is fetched; bytes go to the spool. */
export function readResult(result: Members, where: Where): ToolResult {
  const keep = createKeeper(where);
  const parts = partsOf(result['content']);
  const structured = isObject(result['structuredContent']) ? result['structuredContent'] : null;
  if (result['isError'] === true) {
    const text = parts.map((part) => partText(part, keep)).join('\n');
    const said = text === '' && structured !== null ? JSON.stringify(structured) : text;
    return fail('tool_error', said === '' ? 'The server reported an error without text.' : said);
  }
  // The texts beside structured content say the same in other words; what is no text is said nowhere else.
  const told = structured === null ? parts : parts.filter((part) => part['type'] !== 'text');
  const lines = told.map((part) => partText(part, keep));
  if (structured === null) return { ok: true, value: lines.join('\n') };
  return { ok: true, value: lines.length === 0 ? structured : [JSON.stringify(structured), ...lines].join('\n') };
}

/** Some servers give a text, or one part, where a list of parts belongs: said is what they said. */
const partsOf = (content: unknown): readonly Members[] =>
  (Array.isArray(content) ? content : [content])
    .map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part))
    .filter(isObject);

function partText(part: Members, keep: Keep): string {
  const text = (name: string): string => (typeof part[name] === 'string' ? part[name] : '');
  switch (part['type']) {
    case 'text':
      return text('text');
    case 'image':
    case 'audio':
      return keep(part['type'], text('mimeType'), text('data'));
    case 'resource': {
      const resource = isObject(part['resource']) ? part['resource'] : {};
      const [uri, mime, content, blob] = ['uri', 'mimeType', 'text', 'blob'].map((name) => resource[name]);
      const shown = `[resource ${oneWord(uri)}]`;
      if (typeof content === 'string') return `${shown}\n${content}`;
      return typeof blob === 'string' ? `${shown}\n${keep('resource', String(mime ?? ''), blob)}` : shown;
    }
    case 'resource_link':
      return `[link ${oneWord(part['name'])} ${oneWord(part['uri'])}]`;
    default:
      return `[${oneWord(part['type'])}]`;
  }
}

const oneWord = (value: unknown): string =>
  (typeof value === 'string' ? value : '').replace(/\s+/g, ' ').slice(0, 1000);

type Keep = (kind: string, mime: string, base64: string) => string;

/** Bytes are never inline: the line names them, and where they can be read. What is not kept is told once. */
function createKeeper({ run_id, call_id, ports, emit }: Where): Keep {
  let files = 0;
  let isFull = false;
  const full = (message: string): null => {
    if (!isFull) emit({ kind: 'notice', level: 'warn', code: 'spool_full', message });
    isFull = true;
    return null;
  };
  const put = (base64: string): string | null => {
    if (isFull) return null;
    if (files === mostFiles) return full(`of a result with many parts the first ${mostFiles} were kept`);
    files += 1;
    const spooled = ports.spool.put(run_id, call_id, Buffer.from(base64, 'base64'));
    return spooled.name ?? full(`the full result could not be kept ${spooled.fault}`);
  };
  return (kind, mime, base64) => {
    const media = /^[\w.+-]+\/[\w.+-]+$/.test(mime) ? mime : 'application/octet-stream';
    return `[${kind} ${media}, ${Buffer.byteLength(base64, 'base64')} bytes: ${put(base64) ?? 'not kept'}]`;
  };
}

/** Why there is no result, in words that say what to do instead. */
export function readFailure(
  end: Exclude<CallEnd, { kind: 'result' }>,
  { name: server, credentials }: { readonly name: string; readonly credentials: Credentials },
  tool: string,
): ToolFailure {
  switch (end.kind) {
    case 'rpc_error':
      return fail(
        end.code === invalidParams ? 'invalid_arguments' : 'tool_error',
        `The server "${server}" answered with error ${end.code}: ${end.message}`,
        { code: end.code },
      );
    case 'timeout':
      return fail(
        'timeout',
        `The server "${server}" gave no result within ${end.afterMs / 1000} s; it was told to stop, and what it did until then is not known.`,
      );
    case 'cancelled':
      return fail(
        'cancelled',
        `The call was cancelled: "${server}" was told to stop, and what it did until then is not known.`,
      );
    case 'lost':
      return fail(
        'outcome_unknown',
        `The connection to "${server}" ended during the call (${end.reason}): it may have been served. Check before repeating it.`,
      );
    case 'too_large':
      return fail(
        'output_limit',
        `The answer of "${server}" is larger than 16 MiB, or of half a million parts, and was not kept. Ask for less at a time.`,
      );
    case 'http':
      return fail('http_status', `The server "${server}" answered with status ${end.status}.`, {
        status: end.status,
        body: end.body.slice(0, shownBytes),
      });
    case 'auth':
      if (credentials === 'sign_in' && end.scopes !== undefined) {
        const mend = `reins mcp update ${server} --oauth-scopes "${end.scopes}" and reins mcp auth ${server}`;
        return fail(
          'needs_auth',
          `The server "${server}" wants further rights; the operator grants them with ${mend}.`,
        );
      }
      return refusedCredentials(server, credentials);
    case 'changed':
      return fail(
        'quarantined',
        `The definition of ${server}.${tool} is not the one that was accepted, so the call was not sent. The operator looks at it with reins mcp accept ${server}.`,
      );
    case 'gone':
      return fail('not_found', `The server "${server}" does not list ${tool} any more, so the call was not sent.`);
    case 'blocked':
      return fail('egress_blocked', `The server "${server}" is not reached: ${end.reason}.`);
    case 'not_sent':
    case 'session':
      return unavailable(server, end.reason);
  }
}

export const unavailable = (server: string, reason: string): ToolFailure =>
  fail('unavailable', `The server "${server}" is not available: ${reason}. Go on without it, or tell the operator.`);
