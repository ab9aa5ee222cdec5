import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionEnds, ServerGround } from '../app-options.ts';

/** For how many milliseconds the answer "not from a tool" is believed. */
const againMs = 1000;

/**
 * Tells whether the client of a connection was started by a tool. A yes is final; a no is looked up again after a
 * second, because the connection may have been handed on, and by the first request that changes something.
 */
export function createToolClients(ground: Pick<ServerGround, 'comesFromTool'>, now: () => number) {
  const looked = new WeakMap<Socket, { readonly at: number; readonly isTool: boolean; readonly changes: boolean }>();
  return ({ socket, method }: IncomingMessage): boolean => {
    const changes = method !== 'GET' && method !== 'HEAD';
    const before = looked.get(socket);
    const holds = before !== undefined && (before.changes || !changes) && Math.abs(now() - before.at) < againMs;
    if (before !== undefined && (before.isTool || holds)) return before.isTool;
    const isTool = ground.comesFromTool(endsOf(socket), changes);
    looked.set(socket, { at: now(), isTool, changes });
    return isTool;
  };
}

/** Both are empty where the connection was reset. */
export const endsOf = (socket: Socket): ConnectionEnds => ({
  client: { address: socket.remoteAddress ?? '', port: socket.remotePort ?? 0 },
  server: { address: socket.localAddress ?? '', port: socket.localPort ?? 0 },
});
