import { afterEach, describe, expect, it } from 'vitest';
import type { ToolSpec } from '../../src/schema/message.ts';
import { recordedStreams } from './streams.ts';
import { collect, contentTypes, type Harness, harness, merged, passed, request, sends } from './wire-server.ts';

const readFile: ToolSpec = {
  tools: 'local_fs',
  tool: 'read_file',
  description: 'Reads a file.',
  input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  read_only: true,
};

let open: Harness | null = null;
afterEach(async () => {
  await open?.close();
  open = null;
});

describe.each(recordedStreams)('recorded stream: $name', ({ type, raw, parts }) => {
  it('means the same when it arrives whole', async () => {
    open = await harness(type, sends(type, raw));
    expect(merged(await collect(open.model, request({ tools: [readFile] })))).toEqual(parts);
  });

  it('means the same when it is cut at any byte', async () => {
    const bytes = Buffer.from(raw);
    open = await harness(type, (_request, response, index) => {
      response.writeHead(200, { 'content-type': contentTypes[type] });
      response.write(bytes.subarray(0, index + 1), () => {
        void passed().then(() => response.end(bytes.subarray(index + 1)));
      });
    });
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const got = merged(await collect(open.model, request({ tools: [readFile] })));
      expect(got, `cut behind byte ${cut}`).toEqual(parts);
    }
  });

  it('means the same byte by byte', async () => {
    const bytes = Buffer.from(raw);
    open = await harness(type, async (_request, response) => {
      response.writeHead(200, { 'content-type': contentTypes[type] });
      for (const byte of bytes) {
        response.write(Buffer.from([byte]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    expect(merged(await collect(open.model, request({ tools: [readFile] })))).toEqual(parts);
  });
});
