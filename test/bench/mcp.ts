// What tool servers cost (05 §10): a list of 500 tools behind connecting, a call beside one of the bare library, ten servers
// at once, and what they cost while nobody calls them.
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { mcpTool } from '../../src/tools/mcp/tool.ts';
import { resultOf, type Tried, tryChild } from '../tools/mcp/support.ts';
import { createFigures, median } from './figures.ts';

// The bench says that every file lies one room deep, as this one does.
const server = fileURLToPath(new URL('../support/bad-mcp-server.mjs', import.meta.url));
const figures = createFigures();
const runs = Number(process.argv[2] ?? 9);
const start = (...args: readonly string[]): Tried => tryChild([server, ...args]);
const connected = async (connection: Tried) => {
  const found = await connection.connect(true);
  if (found.kind !== 'ready') throw new Error(found.reason);
  return found;
};
const timed = async (work: () => unknown): Promise<number> => {
  const from = performance.now();
  await work();
  return performance.now() - from;
};

await benchList();
await benchCalls();
await benchTen();
figures.print();

/** Behind connecting: the pages of the list, read and made into tools of a run. */
async function benchList(): Promise<void> {
  const listing: number[] = [];
  const making: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const connection = start('many', '500');
    const found = await connected(connection);
    listing.push(found.times.listMs);
    const many = {
      ...{ name: 'many', directory: null, inject: {}, credentials: 'none' as const, call: connection.call },
      expand: (text: string) => ({ kind: 'value', value: text }) as const,
    };
    making.push(await timed(() => found.listing.definitions.map((definition) => mcpTool(many, definition))));
    await connection.close();
  }
  figures.time('list of 500 tools behind connecting, median', median(listing), 50);
  figures.time('the same made into tools of a run, median', median(making), null);
}

/** Call by call in turns, so that both have the same machine. */
async function benchCalls(): Promise<void> {
  const ours = start('tools');
  await connected(ours);
  const bare = new Client({ name: 'bare', version: '0' }, { capabilities: {} });
  await bare.connect(new StdioClientTransport({ command: process.execPath, args: [server, 'tools'] }));
  const args = { message: 'x'.repeat(100) };
  const taken: { readonly ours: number[]; readonly bare: number[] } = { ours: [], bare: [] };
  for (let call = 0; call < 50 * runs; call += 1) {
    taken.bare.push(await timed(() => bare.callTool({ name: 'echo', arguments: args })));
    taken.ours.push(await timed(() => resultOf(ours, 'echo', args)));
  }
  await Promise.all([bare.close(), ours.close()]);
  figures.time('a call over the bare library, median', median(taken.bare), null);
  figures.time('a call, median', median(taken.ours), null);
  figures.time('a call beyond the bare library, median', median(taken.ours) - median(taken.bare), 3);
}

async function benchTen(): Promise<void> {
  const one: number[] = [];
  const ten: number[] = [];
  for (let run = 0; run < Math.min(runs, 5); run += 1) {
    const single = start('tools');
    one.push(await timed(() => connected(single)));
    await single.close();
    const several = Array.from({ length: 10 }, () => start('tools'));
    ten.push(await timed(() => Promise.all(several.map(connected))));
    if (run === 0) await benchIdle();
    await Promise.all(several.map((connection) => connection.close()));
  }
  figures.time('one server, connected and listed, median', median(one), null);
  figures.time('ten servers at once, median', median(ten), null);
}

/** Processor time of this program while ten servers wait. */
async function benchIdle(): Promise<void> {
  const seconds = 5;
  await new Promise((resolve) => setTimeout(resolve, 500));
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const { user, system } = process.cpuUsage(before);
  figures.time('processor time of a second with ten idle servers', (user + system) / 1000 / seconds, 1);
}
