import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDocuments, type Documents } from '../../src/store/documents.ts';
import { processOwner } from '../../src/store/owner.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { openIn } from './open.ts';

let temp: TempHome;
let store: OpenedStore;
let documents: Documents;
let now: number;
const owner = processOwner('cli');
beforeEach(async () => {
  temp = tempHome();
  store = await openIn(temp);
  now = 1_000_000_000_000;
  documents = createDocuments(store.sql, { now: () => now, owner });
});
afterEach(() => {
  store.close();
  temp.remove();
});

const never = new AbortController().signal;

describe('texts that runs used', () => {
  it('are kept under their hash, with the first use', () => {
    documents.putPolicySnapshot({ sha256: 'p', name: 'default', source: 'builtin', text: '{"rules":[]}' }, 1);
    documents.putPolicySnapshot({ sha256: 'p', name: 'again', source: 'user', text: 'other' }, 2);
    expect(documents.policyText('p')).toBe('{"rules":[]}');
    documents.putChainSnapshot(
      { sha256: 'c', id: 'chain-run', path: '/p/.reins/default-run-chain.json', text: '{}' },
      1,
    );
    documents.putChainSnapshot({ sha256: 'c', id: 'chain-run', path: null, text: '{}' }, 2);
    expect(documents.chainText('c')).toBe('{}');
    expect(documents.chainText('none')).toBeNull();
    expect(store.sql.all('SELECT path, first_used_at FROM chain_snapshots')).toEqual([
      { path: '/p/.reins/default-run-chain.json', first_used_at: 1 },
    ]);
  });

  it('are found again as blobs by their SHA-256', () => {
    const sha256 = documents.putBlob(new Uint8Array([97, 98, 99]), 1);
    expect(sha256).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(documents.putBlob(new Uint8Array([97, 98, 99]), 2)).toBe(sha256);
    expect([...(documents.blob(sha256) ?? [])]).toEqual([97, 98, 99]);
    expect(documents.blob('none')).toBeNull();
  });
});

describe('read marks', () => {
  it('belong to one scope and path, the last one counts', () => {
    documents.marks.put('s1', '/f', { sha256: 'a', full: false, ranges: [[1, 10]] });
    documents.marks.put('s1', '/f', { sha256: 'b', full: true, ranges: [] });
    expect(documents.marks.get('s1', '/f')).toEqual({ sha256: 'b', full: true, ranges: [] });
    expect(documents.marks.get('s2', '/f')).toBeNull();
    expect(documents.marks.get('s1', '/g')).toBeNull();
  });

  it('count for 24 hours', () => {
    documents.marks.put('s1', '/f', { sha256: 'a', full: false, ranges: [[1, 2]] });
    now += 24 * 60 * 60 * 1000 - 1;
    expect(documents.marks.get('s1', '/f')).toEqual({ sha256: 'a', full: false, ranges: [[1, 2]] });
    now += 1;
    expect(documents.marks.get('s1', '/f')).toBeNull();
  });
});

describe('the turn of a writer', () => {
  it('is given to one at a time, also within a process', async () => {
    const first = await documents.lockPath('/f', never);
    const order: string[] = [];
    const second = documents.lockPath('/f', never).then((release) => {
      order.push('second');
      return release;
    });
    const other = await documents.lockPath('/g', never);
    expect(other).not.toBeNull();
    order.push('first');
    first?.();
    (await second)?.();
    expect(order).toEqual(['first', 'second']);
    other?.();
    expect(store.sql.all('SELECT * FROM path_locks')).toEqual([]);
  });

  it('is refused after 10 s and when the call is cancelled', async () => {
    await documents.lockPath('/f', never);
    const waiting = documents.lockPath('/f', never);
    now += 10_000;
    expect(await waiting).toBeNull();
    expect(await documents.lockPath('/f', AbortSignal.abort())).toBeNull();
  });

  it('is taken over from an owner that is gone, and from one that held it for a minute', async () => {
    const gone = owner.split(' ').with(2, '999999999').join(' ');
    const dead = createDocuments(store.sql, { now: () => now, owner: gone });
    await dead.lockPath('/f', never);
    const late = await documents.lockPath('/f', never);
    expect(late).not.toBeNull();
    now += 60_000;
    const later = await documents.lockPath('/f', never);
    expect(later).not.toBeNull();
    // The release of one who lost it frees nothing.
    late?.();
    expect(store.sql.all('SELECT path FROM path_locks')).toEqual([{ path: '/f' }]);
    later?.();
  });
});
