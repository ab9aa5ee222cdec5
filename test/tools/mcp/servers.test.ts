import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ChildProcess } from 'node:child_process';
import {
  callWith,
  everything,
  filesystem,
  freePort,
  memory,
  resultOf,
  serveEverything,
  stop,
  type Tried,
  tryChild,
  tryUrl,
} from './support.ts';

// The official example servers, unmodified.
let opened: Tried[] = [];
const keep = (connection: Tried): Tried => {
  opened.push(connection);
  return connection;
};
afterEach(async () => {
  await Promise.all(opened.map((connection) => connection.close()));
  opened = [];
});

describe.each(['stdio', 'http', 'sse'] as const)('the everything server over %s', (kind) => {
  let served: ChildProcess | null = null;
  let port = 0;
  beforeAll(async () => {
    if (kind === 'stdio') return;
    port = await freePort();
    served = await serveEverything(kind, port);
  });
  afterAll(async () => {
    if (served !== null) await stop(served);
  });
  const connect = async (): Promise<Tried> => {
    const connection = keep(
      kind === 'stdio'
        ? tryChild([everything, 'stdio'])
        : tryUrl(kind, `http://127.0.0.1:${port}/${kind === 'http' ? 'mcp' : 'sse'}`),
    );
    const connected = await connection.connect(false);
    expect(connected).toMatchObject({ kind: 'ready' });
    return connection;
  };

  it('lists its tools', async () => {
    const connection = await connect();
    const names = connection.listing().definitions.map(({ name }) => name);
    expect(names).toContain('echo');
    expect(names).toContain('trigger-long-running-operation');
    expect(connection.protocol()).toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  it('gives texts, images, links and structured content', async () => {
    const connection = await connect();
    expect(await resultOf(connection, 'echo', { message: 'hello' })).toMatchObject({
      content: [{ type: 'text', text: 'Echo: hello' }],
    });
    const image = await resultOf(connection, 'get-tiny-image', {});
    expect(JSON.stringify(image['content'])).toContain('"mimeType":"image/png"');
    const structured = await resultOf(connection, 'get-structured-content', { location: 'Chicago' });
    expect(structured['structuredContent']).toMatchObject({ conditions: expect.any(String) });
  });

  it('tells of progress while it works', async () => {
    const connection = await connect();
    const { end, progress } = await callWith(connection, 'trigger-long-running-operation', { duration: 0.4, steps: 4 });
    expect(end).toMatchObject({ kind: 'result' });
    expect(progress.length).toBeGreaterThanOrEqual(3);
  });

  it('stops waiting when the call is cancelled, and serves the next one', async () => {
    const connection = await connect();
    const cancel = new AbortController();
    const called = connection.call(
      'trigger-long-running-operation',
      { duration: 60, steps: 600 },
      {
        signal: cancel.signal,
        onProgress: () => cancel.abort(),
      },
    );
    expect(await called).toEqual({ kind: 'cancelled' });
    expect(await resultOf(connection, 'echo', { message: 'still here' })).toMatchObject({
      content: [{ text: 'Echo: still here' }],
    });
  });
});

describe('the filesystem server', () => {
  it('reads and lists below the directory that it was given', async () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'reins-mcp-')));
    writeFileSync(join(directory, 'note.txt'), 'a note\n');
    const connection = keep(tryChild([filesystem, directory]));
    expect(await connection.connect(false)).toMatchObject({ kind: 'ready' });
    expect(await resultOf(connection, 'read_text_file', { path: join(directory, 'note.txt') })).toMatchObject({
      content: [{ type: 'text', text: 'a note\n' }],
    });
    expect(await resultOf(connection, 'read_text_file', { path: '/etc/hostname' })).toMatchObject({ isError: true });
    rmSync(directory, { recursive: true });
  });
});

describe('the memory server', () => {
  it('keeps what it is told', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'reins-mcp-'));
    const connection = keep(tryChild([memory], { env: { MEMORY_FILE_PATH: join(directory, 'memory.json') } }));
    expect(await connection.connect(false)).toMatchObject({ kind: 'ready' });
    await resultOf(connection, 'create_entities', {
      entities: [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }],
    });
    const graph = await resultOf(connection, 'read_graph', {});
    expect(graph['structuredContent']).toMatchObject({ entities: [{ name: 'Ada' }] });
    await connection.close();
    rmSync(directory, { recursive: true });
  });
});
