import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerGround } from '../app-options.ts';

/** For how many milliseconds the answer "not from a tool" is believed. */
const againMs = 1000;

/**
 * Tells whether the client of a connection was started by a tool call. A yes is final; a no is looked up again after a
 * second, because the connection may have been handed on.
 */
export function createToolClients(ground: Pick<ServerGround, 'comesFromTool'>, now: () => number) {
  const looked = new WeakMap<Socket, { readonly at: number; readonly isTool: boolean }>();
  return ({ socket }: IncomingMessage): boolean => {
    const before = looked.get(socket);
    if (before !== undefined && (before.isTool || Math.abs(now() - before.at) < againMs)) return before.isTool;
    const isTool = ground.comesFromTool({ client: socket.remotePort ?? 0, server: socket.localPort ?? 0 });
    looked.set(socket, { at: now(), isTool });
    return isTool;
  };
}
