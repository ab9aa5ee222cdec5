import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { request as requestTls } from 'node:https';
import { networkInterfaces } from 'node:os';
import { RuntimeError } from '../schema/errors.ts';
import type { Address } from './address.ts';

const waitMs = 2000;

export type Scheme = 'http' | 'https';

/** What is asked of a server of this user, which must be on this machine. */
export type Question = {
  readonly scheme: Scheme;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly token: string | null;
};

/**
 * Asks a server on this machine, and follows no redirect. @returns the JSON of a 200; null for anything else
 */
export function ask({ scheme, host, port, path, token }: Question): Promise<unknown> {
  return new Promise((resolve) => {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const given = { host, port, path, headers, timeout: waitMs, agent: false };
    const heard = (response: IncomingMessage): void => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        if (text.length < 65_536) text += piece;
      });
      response.on('end', () => resolve(response.statusCode === 200 ? parsed(text) : null));
      response.on('error', () => resolve(null));
    };
    // The system has said whose server it is; its certificate is for the name by which others reach it.
    const sent = scheme === 'http' ? request(given, heard) : requestTls({ ...given, rejectUnauthorized: false }, heard);
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(null));
    sent.end();
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Whether what listens on a port of this machine belongs to this user; false where the system does not say. */
function listenerIsOurs(port: number): boolean {
  const uid = process.getuid?.();
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const listening = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => {
    try {
      return readFileSync(path, 'utf8')
        .split('\n')
        .slice(1)
        .map((line) => line.trim().split(/\s+/));
    } catch {
      return [];
    }
  });
  const owners = listening.filter(([, local = '', , state]) => state === '0A' && local.endsWith(wanted));
  return owners.length > 0 && owners.every((fields) => Number(fields[7]) === uid);
}

/** How a server of this user is spoken to that answers there; null where none does. */
export async function runningAt(host: string, port: number): Promise<Scheme | null> {
  if (!listenerIsOurs(port)) return null;
  for (const scheme of ['http', 'https'] as const) {
    const health = await ask({ scheme, host, port, path: '/api/health', token: null });
    if (typeof health === 'object' && health !== null && 'status' in health && health.status === 'ok') return scheme;
  }
  return null;
}

/** Where this machine reaches a server that listens there. */
export const localHost = ({ address, family, wildcard }: Address): string =>
  wildcard ? (family === 6 ? '::1' : '127.0.0.1') : address;

/** Addresses of this machine but loopback and those of one link alone. */
export const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((all = []) =>
    all.flatMap(({ address, internal }) => (internal || address.startsWith('fe80:') ? [] : [address])),
  );

/** What keeps the server from listening, in one line (09 §1.4). */
export async function addressTaken(error: unknown, address: Address, port: number): Promise<unknown> {
  if (!(error instanceof Error) || !('syscall' in error) || error.syscall !== 'listen') return error;
  const code = 'code' in error ? String(error.code) : error.message;
  const host = address.family === 6 ? `[${address.address}]` : address.address;
  if (code !== 'EADDRINUSE')
    return new RuntimeError('in_use', `Cannot listen on ${host}:${port} (${code}).`, { cause: error });
  const own = await runningAt(localHost(address), port);
  return own !== null
    ? new RuntimeError('in_use', `Beam runs on ${host}:${port} already; "reins beam link" opens it.`, {
        cause: error,
        hints: [port === 8787 ? 'reins beam link' : `reins beam link --port ${port}`],
      })
    : new RuntimeError('in_use', `Cannot listen on ${host}:${port}: another program has that port (${code}).`, {
        cause: error,
        hints: ['reins beam --port 0'],
      });
}
