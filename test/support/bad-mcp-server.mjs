// A tool server on stdio that does what its first argument says; `MARK` names a file in which it counts its calls.
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [mode, ...rest] = process.argv.slice(2);
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const mark = (text) => process.env.MARK && appendFileSync(process.env.MARK, `${text}\n`);
const tool = (name, more = {}) => ({ name, description: `tool ${name}`, inputSchema: { type: 'object' }, ...more });
const text = (value) => ({ content: [{ type: 'text', text: value }] });

const floods = {
  'flood-lines': () => `${'garbage '.repeat(64)}\n`.repeat(128),
  'flood-one-line': () => 'x'.repeat(65536),
  'flood-stderr': () => `${'noise '.repeat(64)}\n`.repeat(128),
};

/** Writes without end, as fast as it is read. */
function flood(stream, piece) {
  const chunk = piece();
  let written = 0;
  const more = () => {
    while (written < 100 * 1024 * 1024) {
      written += chunk.length;
      if (!stream.write(chunk)) return void stream.once('drain', more);
    }
  };
  more();
}

/** Asks for the same thing without end, and reads no answer. */
function beg() {
  process.stdin.pause();
  let id = 1000;
  const more = () => {
    while (id < 1_000_000) {
      id += 1;
      const request = { jsonrpc: '2.0', id, method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } };
      if (!process.stdout.write(`${JSON.stringify(request)}\n`)) return void process.stdout.once('drain', more);
    }
  };
  more();
}

mark(`start ${process.pid}`);
if (mode === 'exit') {
  process.stderr.write('no configuration found\n');
  process.exit(3);
}
// Some languages begin their output so, before anything else is written.
if (mode === 'mark-first') process.stdout.write('\ufeff');
if (mode === 'flood-lines' || mode === 'flood-one-line') flood(process.stdout, floods[mode]);
if (mode === 'flood-stderr') flood(process.stderr, floods[mode]);
if (mode === 'stubborn') for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
if (mode === 'stubborn' || mode === 'hang') setInterval(() => {}, 1000);

const pages = { undefined: [['a', 'b'], 'p2'], p2: [['c'], 'p3'], p3: [['d'], undefined] };

const calls = {
  echo: ({ message }) => text(String(message)),
  env: () => text(JSON.stringify(process.env)),
  args: () => text(JSON.stringify(rest)),
  die: () => process.exit(1),
  big: ({ bytes }) => text('y'.repeat(bytes)),
  fails: () => ({ ...text('it went wrong'), isError: true }),
  silent: () => ({ content: [], isError: true }),
  pid: () => text(String(process.pid)),
  given: (given) => text(JSON.stringify(given)),
  image: () => ({
    content: [
      { type: 'text', text: 'a dot' },
      { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
    ],
  }),
  structured: () => ({ ...text('{"n":1}'), structuredContent: { n: 1 } }),
  leak: () => text(`token is ${process.env.SERVICE_TOKEN}`),
};

const handle = (line) => {
  const { id, method, params } = JSON.parse(line);
  if (mode === 'late' && method === 'initialize' && !globalThis.waited) {
    globalThis.waited = true;
    return setTimeout(() => handle(line), Number(rest[0]));
  }
  if (method === 'initialize') {
    if (mode === 'hang' || mode === 'flood-lines' || mode === 'flood-one-line') return;
    if (mode === 'version')
      return say({
        id,
        result: { protocolVersion: '1999-01-01', capabilities: {}, serverInfo: { name: 'x', version: '1' } },
      });
    if (mode === 'nonsense') return say({ id, result: { hello: 'world' } });
    say({
      id,
      result: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'bad', version: '1' },
        instructions: 'use with care',
      },
    });
    if (mode === 'asks') {
      say({ id: 900, method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } });
      say({ id: 901, method: 'elicitation/create', params: { message: 'your password?' } });
      say({ id: 902, method: 'roots/list' });
      say({ id: 903, method: 'ping' });
    }
    return;
  }
  // Answers to what it asked for.
  if (method === undefined) return void mark(line);
  if (method === 'tools/list') {
    // The tools that a file says.
    if (mode === 'file') return say({ id, result: { tools: JSON.parse(readFileSync(rest[0], 'utf8')) } });
    if (mode === 'pages') {
      const [names, nextCursor] = pages[String(params?.cursor)];
      return say({ id, result: { tools: names.map((name) => tool(name)), nextCursor } });
    }
    if (mode === 'endless')
      return say({
        id,
        result: { tools: [tool(`t${params?.cursor ?? 0}`)], nextCursor: String(Number(params?.cursor ?? 0) + 1) },
      });
    if (mode === 'repeats') return say({ id, result: { tools: [tool('a')], nextCursor: 'again' } });
    if (mode === 'many')
      return say({
        id,
        result: {
          tools: Array.from({ length: Number(rest[0]) }, (_, at) =>
            tool(`tool_${at}`, {
              inputSchema: {
                type: 'object',
                properties: { path: { type: 'string', description: 'where' } },
                required: ['path'],
              },
            }),
          ),
        },
      });
    // Page after page of what is no tool; of the same names; or with a place in the list that is a book.
    if (mode === 'empty-pages' || mode === 'same-names' || mode === 'long-cursor') {
      globalThis.page = (globalThis.page ?? 0) + 1;
      const tools = {
        'empty-pages': () => Array(500_000).fill(0),
        'same-names': () => Array.from({ length: 20 }, (_, at) => tool(`t${at}`)),
        'long-cursor': () => [tool(`t${globalThis.page}`)],
      }[mode]();
      const nextCursor = String(globalThis.page).padEnd(mode === 'long-cursor' ? 1_000_000 : 1, '.');
      return say({ id, result: { tools, ...(globalThis.page < 4 ? { nextCursor } : {}) } });
    }
    if (mode === 'large')
      return say({
        id,
        result: {
          tools: [tool(`t${params?.cursor ?? 0}`, { description: 'd'.repeat(6_000_000) })],
          ...(params?.cursor === '4' ? {} : { nextCursor: String(Number(params?.cursor ?? 0) + 1) }),
        },
      });
    if (mode === 'odd')
      return say({
        id,
        result: {
          tools: [
            tool('good'),
            tool('bad name'),
            { name: 'none' },
            tool('good'),
            7,
            tool('text', { inputSchema: { type: 'string' } }),
            tool('deep', { inputSchema: JSON.parse(`${'{"not":'.repeat(1_000)}{}${'}'.repeat(1_000)}`) }),
          ],
          nextCursor: '',
        },
      });
    return say({
      id,
      result: {
        tools: [...Object.keys(calls).map((name) => tool(name)), ...(globalThis.grown ? [tool('grown')] : [])],
      },
    });
  }
  if (method === 'tools/call') {
    mark(`call ${params.name}`);
    if (params.name === 'ask') {
      say({ id: 910, method: 'roots/list' });
      return say({ id, result: text('asked') });
    }
    if (params.name === 'grow') {
      globalThis.grown = true;
      say({ method: 'notifications/tools/list_changed' });
      return say({ id, result: text('grown') });
    }
    if (params.name === 'wrong') return say({ id, error: { code: -32602, message: 'path is missing' } });
    if (params.name === 'broken') return say({ id, error: { code: -32603, message: 'out of luck' } });
    // A code that the library of clients uses for its own time limit.
    if (params.name === 'missing') return say({ id, error: { code: -32001, message: 'item 7 was not found' } });
    if (params.name === 'images') {
      const one = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' };
      return say({ id, result: { content: Array.from({ length: params.arguments.count }, () => one) } });
    }
    if (params.name === 'nothing') return say({ id, result: null });
    if (params.name === 'deep') {
      const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
      const whole = (members) => process.stdout.write(`{"jsonrpc":"2.0",${members}}\n`);
      whole(`"id":${deep},"result":{}`);
      whole(`"id":${deep},"method":"ping"`);
      whole(`"method":"notifications/message","params":${deep}`);
      whole(`"x":${deep}`);
      return whole(`"id":${id},"result":{"content":[],"structuredContent":${deep}}`);
    }
    // Objects by the hundred thousand, or a text that speaks of them.
    if (params.name === 'parts') {
      const { count, inText } = params.arguments;
      const objects = `[${Array(count).fill('{}')}]`;
      const members = inText ? `"content":[{"type":"text","text":"${objects}"}]` : `"content":${objects}`;
      return process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{${members}}}\n`);
    }
    if (params.name === 'beg') return beg();
    if (params.name === 'wait') return;
    if (params.name === 'slow') {
      // Tells of progress for longer than one time limit.
      let step = 0;
      const timer = setInterval(() => {
        step += 1;
        say({
          method: 'notifications/progress',
          params: { progressToken: params._meta?.progressToken, progress: step, total: 5, message: `step ${step}` },
        });
        if (step === 5) {
          clearInterval(timer);
          say({ id, result: text('done') });
        }
      }, 300);
      return;
    }
    return say({ id, result: calls[params.name](params.arguments ?? {}) });
  }
  if (method === 'notifications/cancelled') mark(`cancelled ${params.requestId !== undefined}`);
  if (id !== undefined) say({ id, error: { code: -32601, message: 'no such method' } });
};
createInterface({ input: process.stdin }).on('line', handle);
// A server that does not listen to the end of its input.
if (mode === 'stubborn') process.stdin.on('end', () => {});
