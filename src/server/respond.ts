import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasBody } from './body.ts';
import type { Reply } from './route.ts';

/** How long a client that is refused may go on sending before its connection is cut. */
const lingerMs = 500;

/** Writes a reply, unless the handler has begun one itself. A refused request that is still being sent ends its connection. */
export function respond(request: IncomingMessage, response: ServerResponse, reply: Exclude<Reply, 'written'>): void {
  if (response.headersSent) {
    // Nothing can be taken back any more: the client must see that it is broken.
    response.destroy();
    return;
  }
  response.statusCode = reply.status;
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value as string | string[]);
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
