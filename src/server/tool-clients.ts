import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerGround } from '../app-options.ts';

/** How long a connection that is nobody's of a tool is taken for that. */
const againMs = 1000;

/** Connections by what holds their other end: found out once for a tool's, and once a second for others. */
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
