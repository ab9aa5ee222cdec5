import { readFileSync } from 'node:fs';
import { SocketAddress } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { ConnectionEnds } from '../app-options.ts';

/**
 * The client of a connection as this machine's table shows it: the numbers of its sockets, of which one is open usually.
 * `gone`: the connection came from this machine, and nobody holds its other end any more. Neither where the client is another
 * machine, or the system has no table that shows what this program listens on.
 */
export function clientOf({ client, server }: ConnectionEnds): {
  readonly inodes: readonly string[];
  /** Of the accounts that hold them, in the same order. */
  readonly uids: readonly string[];
  readonly gone: boolean;
} {
  // It was reset: nobody waits for an answer.
  if (client.address === '' || server.address === '') return { inodes: [], uids: [], gone: true };
  const [near, far] = [nameOf(server.address, server.port), nameOf(client.address, client.port)];
  const rows = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap(rowsOf);
  const held = rows.filter(({ local, remote, inode }) => local === far && remote === near && inode !== '0');
  const told = rows.some(({ local }) => local.endsWith(` ${server.port}`));
  const gone = held.length === 0 && told && isOwn(client.address);
  return { inodes: held.map(({ inode }) => inode), uids: held.map(({ uid }) => uid), gone };
}

/**
 * Whether the client of a connection within this machine runs for the account of this process; true where the system has no
 * table that tells. One that has closed its end cannot be told, and gets no answer.
 */
export function isOwnAccount(ends: ConnectionEnds): boolean {
  const { uids, gone } = clientOf(ends);
  return !gone && uids.every((uid) => uid === String(process.getuid?.()));
}

/** An address of this machine. */
function isOwn(address: string): boolean {
  const plain = plainOf(address);
  if (plain === '::1' || plain.startsWith('127.')) return true;
  return Object.values(networkInterfaces()).some((some) => some?.some((one) => plainOf(one.address) === plain));
}

/** Without a zone; an IPv4 address that is written as one of IPv6 is the same. */
const plainOf = (address: string): string => address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/, '');
const nameOf = (address: string, port: number): string => `${plainOf(address)} ${port}`;

type Row = { readonly local: string; readonly remote: string; readonly uid: string; readonly inode: string };

function rowsOf(path: string): readonly Row[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local, remote, , , , , uid, , inode] = line.trim().split(/\s+/);
        if (local === undefined || remote === undefined || uid === undefined || inode === undefined) return [];
        return [{ local: endOf(local), remote: endOf(remote), uid, inode }];
      });
  } catch {
    // Another system, or one without IPv6.
    return [];
  }
}

/** `0100007F:1F90`: words of four bytes in the order of the machine, and a port in that of the network. */
function endOf(text: string): string {
  const [hex = '', port = ''] = text.split(':');
  const words = (hex.match(/.{8}/g) ?? []).map((word) =>
    littleEndian ? (word.match(/../g) ?? []).reverse().join('') : word,
  );
  const bytes = words.join('');
  if (bytes.length === 8)
    return nameOf(
      (bytes.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)).join('.'),
      Number.parseInt(port, 16),
    );
  const address = (bytes.match(/.{4}/g) ?? []).join(':');
  return nameOf(new SocketAddress({ family: 'ipv6', address }).address, Number.parseInt(port, 16));
}

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;
