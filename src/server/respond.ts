import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasBody } from './body.ts';
import type { Reply } from './route.ts';

export type PiecedReply = Extract<Reply, { readonly pieces: unknown }>;
export type WholeReply = Exclude<Reply, 'written' | PiecedReply>;

/** How long a client that is refused may go on sending before its connection is cut. */
const lingerMs = 500;

/** Writes a reply, unless the handler has begun one itself. A refused request that is still being sent ends its connection. */
export function respond(request: IncomingMessage, response: ServerResponse, reply: WholeReply): void {
  if (response.headersSent) {
    // Nothing can be taken back any more: the client must see that it is broken.
    response.destroy();
    return;
  }
  setHead(response, reply);
  let text = '';
  if ('text' in reply) {
    response.setHeader('Content-Type', reply.type);
    text = reply.text;
  } else if (reply.json !== undefined) {
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    text = JSON.stringify(reply.json);
  }
  if (reply.status !== 204) response.setHeader('Content-Length', Buffer.byteLength(text));
  if (!request.complete && hasBody(request)) cutAfter(request, response);
  response.end(request.method === 'HEAD' ? undefined : text);
}

function setHead(response: ServerResponse, { status, headers = {} }: Exclude<Reply, 'written'>): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value as string | string[]);
}

/**
 * Writes a reply whose body comes in pieces, the next one when the client has taken the last. Without a length, its end
 * says that it is whole. Ends when the signal is aborted. @throws what kept a piece from coming; the connection is cut
 */
export async function respondInPieces(
  request: IncomingMessage,
  response: ServerResponse,
  reply: PiecedReply,
  signal: AbortSignal,
): Promise<void> {
  setHead(response, reply);
  response.setHeader('Content-Type', reply.type);
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  try {
    for await (const piece of reply.pieces) {
      signal.throwIfAborted();
      if (!response.write(piece)) await once(response, 'drain', { signal });
    }
    response.end();
  } catch (error) {
    response.destroy();
    // Its client, its credential or the server has ended it.
    if (!signal.aborted) throw error;
  }
}

/**
 * A body that nobody wants is not read. The client gets the reply first: closing at once would make its system throw away
 * what has arrived.
 */
function cutAfter(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Connection', 'close');
  response.once('finish', () => {
    const timer = setTimeout(() => request.socket.destroy(), lingerMs);
    request.socket.once('close', () => clearTimeout(timer));
  });
}
