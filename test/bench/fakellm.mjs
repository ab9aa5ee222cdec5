#!/usr/bin/env node
// fakellm: a small, fast, deterministic stand-in for a model server. No dependencies.
//
// Speaks (all on one port):
//   OpenAI     POST /v1/chat/completions (stream and not), POST /v1/responses (stream and not),
//              GET /v1/models, GET /v1/models/:id
//   Ollama     POST /api/chat, /api/generate (NDJSON stream and not), GET /api/tags, /api/ps,
//              /api/version, POST /api/show
//   Gemini     POST /v1beta/models/M:generateContent, :streamGenerateContent[?alt=sse], :countTokens,
//              GET /v1beta/models
//   Anthropic  POST /v1/messages (stream and not), POST /v1/messages/count_tokens
//   (also without the /v1 prefix, and under any extra path prefix, so base URLs can be odd)
//
// What it answers is decided by a script (JSON, see scripts/ and README.md) and by the number of tool
// results already in the incoming conversation. Every request is logged with CLOCK_MONOTONIC times.
//
// usage: fakellm.mjs [--port N] [--host 127.0.0.1] [--script FILE] [--log FILE.jsonl] [--port-file FILE]
// control (same port): POST /__fake/script {script, run}   GET /__fake/log   POST /__fake/reset
import http from 'node:http';
import fs from 'node:fs';

const opt = parseArgs(process.argv.slice(2));
const HOST = opt.host ?? '127.0.0.1';
const logStream = opt.log ? fs.createWriteStream(opt.log, { flags: 'a' }) : null;

const DEFAULT_SCRIPT = { name: 'default', turns: [{ text: { content: 'PEER_DONE' } }] };
let script = opt.script ? JSON.parse(fs.readFileSync(opt.script, 'utf8')) : DEFAULT_SCRIPT;
let run = 'none';
let records = [];
let seq = 0;
let connSeq = 0;

const now = () => Number(process.hrtime.bigint()) / 1e6; // ms, CLOCK_MONOTONIC: same clock in every process
const J = JSON.stringify;

// ---------------------------------------------------------------- script

/** The turn for the n-th tool result (0 = nothing answered yet). Past the end: the last text turn. */
function turnFor(s, n) {
  let i = n;
  for (const t of s.turns) {
    const r = t.repeat ?? 1;
    if (i < r) return { turn: t, k: i, index: n };
    i -= r;
  }
  const last = [...s.turns].reverse().find((t) => t.text) ?? { text: { content: 'PEER_DONE' } };
  return { turn: last, k: 0, index: n };
}

const subst = (v, vars) =>
  typeof v === 'string'
    ? v.replace(/\{\{(\w+)\}\}/g, (m, k) => (k in vars ? String(vars[k]) : m))
    : Array.isArray(v)
      ? v.map((x) => subst(x, vars))
      : v && typeof v === 'object'
        ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, subst(x, vars)]))
        : v;

const WORDS = (
  'the quick brown fox jumps over a lazy dog while seven grey herons watch the slow river bend under ' +
  'stone bridges and bright copper lamps burn late above harbor walls where sailors mend nets trade news ' +
  'of distant storms count crates pay tolls sing old songs and wait for morning tide'
).split(' ');
const textCache = new Map();
/** Deterministic prose cut in `chunks` pieces of `chunkChars` characters. */
function chunksOf(t) {
  if (t.content !== undefined && !t.chunks) return [t.content];
  const key = J([t.chunks, t.chunkChars, t.seed, t.content, t.suffix]);
  let c = textCache.get(key);
  if (c) return c;
  const total = (t.chunks ?? 1) * (t.chunkChars ?? 20);
  let seed = t.seed ?? 12345;
  const out = [];
  let len = 0;
  let line = 0;
  while (len < total) {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    let w = WORDS[(seed >> 8) % WORDS.length];
    w += line > 70 ? '.\n' : (seed >> 20) % 17 === 0 ? '. ' : ' ';
    line = line > 70 ? 0 : line + w.length;
    out.push(w);
    len += w.length;
  }
  const text = out.join('').slice(0, total);
  c = [];
  for (let i = 0; i < (t.chunks ?? 1); i++)
    c.push(text.slice(i * (t.chunkChars ?? 20), (i + 1) * (t.chunkChars ?? 20)));
  if (t.suffix) c.push(t.suffix);
  textCache.set(key, c);
  return c;
}

// ---------------------------------------------------------------- reading requests
// Each returns {msgs, results (since the last user text), resultsAll, tools, stream, model, last}

const textLen = (x) => (typeof x === 'string' ? x : J(x ?? ''));

function readChat(b) {
  let results = 0,
    all = 0,
    last;
  for (const m of b.messages ?? []) {
    if (m.role === 'tool') {
      results++;
      all++;
      last = m.content;
    } else if (m.role === 'user') results = 0;
  }
  return { msgs: b.messages?.length ?? 0, results, all, tools: b.tools?.length ?? 0, stream: b.stream, last };
}
function readResponses(b) {
  let results = 0,
    all = 0,
    last;
  const input = Array.isArray(b.input) ? b.input : [b.input];
  for (const m of input) {
    if (/_call_output$/.test(m?.type ?? '')) {
      results++;
      all++;
      last = m.output;
    } else if (m?.role === 'user' || typeof m === 'string') results = 0;
  }
  return { msgs: input.length, results, all, tools: b.tools?.length ?? 0, stream: b.stream, last };
}
function readGemini(b, stream) {
  let results = 0,
    all = 0,
    last;
  for (const c of b.contents ?? []) {
    const fr = (c.parts ?? []).filter((p) => p.functionResponse);
    if (fr.length) {
      results += fr.length;
      all += fr.length;
      last = fr[fr.length - 1].functionResponse.response;
    } else if (c.role === 'user' || c.role === undefined) results = 0;
  }
  const tools = (b.tools ?? []).reduce((n, t) => n + (t.functionDeclarations?.length ?? 0), 0);
  return { msgs: b.contents?.length ?? 0, results, all, tools, stream, last };
}
function readAnthropic(b) {
  let results = 0,
    all = 0,
    last;
  for (const m of b.messages ?? []) {
    const tr = Array.isArray(m.content) ? m.content.filter((p) => p.type === 'tool_result') : [];
    if (tr.length) {
      results += tr.length;
      all += tr.length;
      last = tr[tr.length - 1].content;
    } else if (m.role === 'user') results = 0;
  }
  return { msgs: b.messages?.length ?? 0, results, all, tools: b.tools?.length ?? 0, stream: b.stream, last };
}

// ---------------------------------------------------------------- writing replies
// A codec has: head (content type), open(), text(chunk), tool(call), close(kind) -> strings; whole(...) -> object

const usageChat = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const sse = (o) => `data: ${J(o)}\n\n`;
const ev = (o) => `event: ${o.type}\ndata: ${J(o)}\n\n`;
const secs = () => Math.floor(Date.now() / 1000);

const codecs = {
  chat(id, model, body) {
    const base = { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created: secs(), model };
    const pre = J(base).slice(0, -1);
    const delta = (d, fin = 'null') => `data: ${pre},"choices":[{"index":0,"delta":${d},"finish_reason":${fin}}]}\n\n`;
    return {
      type: 'text/event-stream',
      open: () => delta('{"role":"assistant","content":""}'),
      text: (s) => delta(`{"content":${J(s)}}`),
      tools: (calls) =>
        calls
          .map((c, i) =>
            delta(
              J({
                tool_calls: [
                  { index: i, id: c.id, type: 'function', function: { name: c.name, arguments: J(c.args) } },
                ],
              }),
            ),
          )
          .join(''),
      close: (kind) =>
        delta('{}', kind === 'tool' ? '"tool_calls"' : '"stop"') +
        (body.stream_options?.include_usage ? `data: ${pre},"choices":[],"usage":${J(usageChat)}}\n\n` : '') +
        'data: [DONE]\n\n',
      whole: (text, calls) => ({
        ...base,
        object: 'chat.completion',
        usage: usageChat,
        choices: [
          {
            index: 0,
            finish_reason: calls ? 'tool_calls' : 'stop',
            logprobs: null,
            message: {
              role: 'assistant',
              content: calls ? null : text,
              refusal: null,
              ...(calls && {
                tool_calls: calls.map((c) => ({
                  id: c.id,
                  type: 'function',
                  function: { name: c.name, arguments: J(c.args) },
                })),
              }),
            },
          },
        ],
      }),
    };
  },

  responses(id, model) {
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 15,
    };
    const rid = `resp_${id}`,
      mid = `msg_${id}`;
    const resp = (status, output, u) => ({
      id: rid,
      object: 'response',
      created_at: secs(),
      status,
      model,
      output,
      error: null,
      incomplete_details: null,
      instructions: null,
      metadata: {},
      parallel_tool_calls: true,
      temperature: 1,
      tool_choice: 'auto',
      tools: [],
      top_p: 1,
      usage: u ?? null,
    });
    let n = 0,
      acc = '',
      opened = false,
      output = [];
    const e = (type, o) => ev({ type, sequence_number: n++, ...o });
    const msg = (status, text) => ({
      id: mid,
      type: 'message',
      status,
      role: 'assistant',
      content: text === null ? [] : [{ type: 'output_text', text, annotations: [] }],
    });
    const fc = (c, status, args) =>
      c.kind === 'custom'
        ? { id: `ctc_${c.id}`, type: 'custom_tool_call', status, call_id: c.id, name: c.name, input: c.input }
        : { id: `fc_${c.id}`, type: 'function_call', status, call_id: c.id, name: c.name, arguments: args };
    return {
      type: 'text/event-stream',
      open: () =>
        e('response.created', { response: resp('in_progress', []) }) +
        e('response.in_progress', { response: resp('in_progress', []) }),
      text(s) {
        let h = '';
        if (!opened) {
          opened = true;
          h =
            e('response.output_item.added', { output_index: 0, item: msg('in_progress', null) }) +
            e('response.content_part.added', {
              item_id: mid,
              output_index: 0,
              content_index: 0,
              part: { type: 'output_text', text: '', annotations: [] },
            });
        }
        acc += s;
        return (
          h +
          `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":${n++},"item_id":"${mid}","output_index":0,"content_index":0,"delta":${J(s)},"logprobs":[]}\n\n`
        );
      },
      tools: (calls) =>
        calls
          .map((c, i) => {
            const done = fc(c, 'completed', J(c.args ?? {}));
            output.push(done);
            return (
              e('response.output_item.added', { output_index: i, item: fc(c, 'in_progress', '') }) +
              (c.kind === 'custom'
                ? ''
                : e('response.function_call_arguments.delta', {
                    item_id: done.id,
                    output_index: i,
                    delta: done.arguments,
                  }) +
                  e('response.function_call_arguments.done', {
                    item_id: done.id,
                    output_index: i,
                    arguments: done.arguments,
                  })) +
              e('response.output_item.done', { output_index: i, item: done })
            );
          })
          .join(''),
      close() {
        let h = '';
        if (opened) {
          const m = msg('completed', acc);
          output.push(m);
          h =
            e('response.output_text.done', {
              item_id: mid,
              output_index: 0,
              content_index: 0,
              text: acc,
              logprobs: [],
            }) +
            e('response.content_part.done', { item_id: mid, output_index: 0, content_index: 0, part: m.content[0] }) +
            e('response.output_item.done', { output_index: 0, item: m });
        }
        return h + e('response.completed', { response: resp('completed', output, usage) });
      },
      whole: (text, calls) =>
        resp(
          'completed',
          calls ? calls.map((c) => fc(c, 'completed', J(c.args ?? {}))) : [msg('completed', text)],
          usage,
        ),
    };
  },

  ollama(id, model, body, path) {
    const gen = /\/generate$/.test(path);
    const created_at = new Date().toISOString();
    const pre = `{"model":${J(model)},"created_at":"${created_at}"`;
    const stats = {
      total_duration: 1000000,
      load_duration: 1000,
      prompt_eval_count: 10,
      prompt_eval_duration: 1000,
      eval_count: 5,
      eval_duration: 1000,
    };
    const calls2 = (calls) => calls.map((c) => ({ id: c.id, function: { name: c.name, arguments: c.args } }));
    return {
      type: 'application/x-ndjson',
      open: () => '',
      text: (s) =>
        gen
          ? `${pre},"response":${J(s)},"done":false}\n`
          : `${pre},"message":{"role":"assistant","content":${J(s)}},"done":false}\n`,
      tools: (calls) =>
        `${pre},"message":{"role":"assistant","content":"","tool_calls":${J(calls2(calls))}},"done":false}\n`,
      close: () =>
        J({
          model,
          created_at,
          ...(gen ? { response: '' } : { message: { role: 'assistant', content: '' } }),
          done: true,
          done_reason: 'stop',
          ...stats,
        }) + '\n',
      whole: (text, calls) => ({
        model,
        created_at,
        done: true,
        done_reason: 'stop',
        ...stats,
        ...(gen
          ? { response: text }
          : {
              message: { role: 'assistant', content: calls ? '' : text, ...(calls && { tool_calls: calls2(calls) }) },
            }),
      }),
    };
  },

  gemini(id, model, body, path, query) {
    const arr = !/alt=sse/.test(query); // without alt=sse the stream is one JSON array
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
    const tail = `"modelVersion":${J(model)},"responseId":"r${id}"}`;
    let first = true;
    const frame = (s) => {
      if (!arr) return `data: ${s}\r\n\r\n`;
      const p = first ? '[' : ',\r\n';
      first = false;
      return p + s;
    };
    const one = (parts, fin) =>
      `{"candidates":[{"content":{"parts":${parts},"role":"model"},"index":0${fin ? ',"finishReason":"STOP"' : ''}}],${fin ? `"usageMetadata":${J(usageMetadata)},` : ''}${tail}`;
    const fcs = (calls) => calls.map((c) => ({ functionCall: { id: c.id, name: c.name, args: c.args } }));
    return {
      type: arr ? 'application/json' : 'text/event-stream',
      open: () => '',
      text: (s) => frame(one(`[{"text":${J(s)}}]`)),
      tools: (calls) => frame(one(J(fcs(calls)))),
      close: () => frame(one('[{"text":""}]', true)) + (arr ? ']' : ''),
      whole: (text, calls) => JSON.parse(one(calls ? J(fcs(calls)) : `[{"text":${J(text)}}]`, true)),
    };
  },

  anthropic(id, model) {
    const usage = { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 };
    const base = { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null };
    let opened = false,
      idx = 0;
    return {
      type: 'text/event-stream',
      open: () => ev({ type: 'message_start', message: { ...base, content: [], stop_reason: null, usage } }),
      text(s) {
        const h = opened
          ? ''
          : ev({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
        opened = true;
        return (
          h +
          `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":${J(s)}}}\n\n`
        );
      },
      tools: (calls) =>
        calls
          .map((c) => {
            const i = idx++;
            return (
              ev({
                type: 'content_block_start',
                index: i,
                content_block: { type: 'tool_use', id: c.id, name: c.name, input: {} },
              }) +
              ev({
                type: 'content_block_delta',
                index: i,
                delta: { type: 'input_json_delta', partial_json: J(c.args) },
              }) +
              ev({ type: 'content_block_stop', index: i })
            );
          })
          .join(''),
      close: (kind) =>
        (opened ? ev({ type: 'content_block_stop', index: 0 }) : '') +
        ev({
          type: 'message_delta',
          delta: { stop_reason: kind === 'tool' ? 'tool_use' : 'end_turn', stop_sequence: null },
          usage: { output_tokens: 5 },
        }) +
        ev({ type: 'message_stop' }),
      whole: (text, calls) => ({
        ...base,
        usage,
        stop_reason: calls ? 'tool_use' : 'end_turn',
        content: calls
          ? calls.map((c) => ({ type: 'tool_use', id: c.id, name: c.name, input: c.args }))
          : [{ type: 'text', text }],
      }),
    };
  },
};

// ---------------------------------------------------------------- serving

function route(method, path) {
  if (/\/chat\/completions$/.test(path)) return 'chat';
  if (/\/responses$/.test(path)) return 'responses';
  if (/\/messages\/count_tokens$/.test(path)) return 'count';
  if (/\/messages$/.test(path)) return 'anthropic';
  if (/\/api\/(chat|generate)$/.test(path)) return 'ollama';
  if (/:(streamGenerateContent|generateContent)$/.test(path)) return 'gemini';
  if (/:countTokens$/.test(path)) return 'count';
  return 'other';
}

const MODEL = opt.model ?? 'fake-model';
const details = {
  parent_model: '',
  format: 'gguf',
  family: 'llama',
  families: ['llama'],
  parameter_size: '8.0B',
  quantization_level: 'Q4_K_M',
};
const ollamaModel = {
  name: MODEL,
  model: MODEL,
  modified_at: '2025-01-01T00:00:00Z',
  size: 4700000000,
  digest: 'f'.repeat(64),
  details,
};
function other(method, path) {
  if (/\/api\/version$/.test(path)) return { version: '0.12.0' };
  if (/\/api\/tags$/.test(path)) return { models: [ollamaModel] };
  if (/\/api\/ps$/.test(path))
    return { models: [{ ...ollamaModel, expires_at: '2099-01-01T00:00:00Z', size_vram: 0, context_length: 131072 }] };
  if (/\/api\/show$/.test(path))
    return {
      license: '',
      modelfile: '',
      parameters: '',
      template: '',
      details,
      capabilities: ['completion', 'tools'],
      modified_at: '2025-01-01T00:00:00Z',
      model_info: {
        'general.architecture': 'llama',
        'general.parameter_count': 8000000000,
        'llama.context_length': 131072,
      },
    };
  if (/\/v1beta\/models$/.test(path))
    return {
      models: [
        {
          name: `models/${MODEL}`,
          inputTokenLimit: 1048576,
          outputTokenLimit: 65536,
          supportedGenerationMethods: ['generateContent', 'countTokens'],
        },
      ],
    };
  if (/\/models\/[^/:]+$/.test(path))
    return {
      id: MODEL,
      object: 'model',
      created: 0,
      owned_by: 'fake',
      name: `models/${MODEL}`,
      inputTokenLimit: 1048576,
      outputTokenLimit: 65536,
    };
  if (/\/models$/.test(path))
    return {
      object: 'list',
      data: [{ id: MODEL, object: 'model', created: 0, owned_by: 'fake' }],
      ...(opt['codex-models'] && { models: [] }),
    };
  if (path === '/' || path === '') return 'Ollama is running';
  return null;
}

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const drain = (res) =>
  new Promise((r) => {
    const f = () => {
      res.off('drain', f);
      res.off('close', f);
      r();
    };
    res.on('drain', f);
    res.on('close', f);
  });

async function readBody(req) {
  const parts = [];
  for await (const c of req) parts.push(c);
  return Buffer.concat(parts);
}

async function handle(req, res) {
  const t_arrive = now();
  const [path, query = ''] = req.url.split('?');
  if (path.startsWith('/__fake/')) return control(req, res, path);
  const api = route(req.method, path);
  const rec = {
    seq: seq++,
    run,
    api,
    method: req.method,
    path,
    conn: req.socket.fakeId,
    reused: req.socket.fakeUses++ > 0,
    t_arrive,
  };
  records.push(rec);
  const raw = await readBody(req);
  rec.bytesIn = raw.length;
  rec.t_body = now();
  const done = () => {
    rec.t_finish ??= now();
    if (logStream) logStream.write(J(rec) + '\n');
  };
  res.on('finish', () => {
    rec.t_finish = now();
  });
  res.on('close', () => {
    if (!res.writableFinished) rec.aborted = true;
    done();
  });

  const json = (code, o) => {
    const s = typeof o === 'string' ? o : J(o);
    rec.status = code;
    rec.t_first = now();
    rec.bytesOut = s.length;
    res.writeHead(code, {
      'content-type': typeof o === 'string' ? 'text/plain' : 'application/json',
      'content-length': Buffer.byteLength(s),
    });
    res.end(s);
    rec.t_last = now();
  };

  let body = {};
  if (raw.length) {
    try {
      body = JSON.parse(raw);
    } catch {
      rec.badJson = true;
    }
  }
  if (api === 'count') return json(200, { input_tokens: 10, totalTokens: 10 });
  if (api === 'other') {
    const o = other(req.method, path);
    return o === null
      ? json(404, { error: { message: `fakellm: no route ${req.method} ${path}`, type: 'not_found' } })
      : json(200, o);
  }

  const geminiModel = /models\/([^/:]+):/.exec(path)?.[1];
  const model = body.model ?? geminiModel ?? MODEL;
  const info =
    api === 'responses'
      ? readResponses(body)
      : api === 'gemini'
        ? readGemini(body, /stream/.test(path))
        : api === 'anthropic'
          ? readAnthropic(body)
          : readChat(body);
  const stream = api === 'ollama' ? body.stream !== false : !!info.stream;
  const auxRe = script.aux?.match;
  const aux =
    !!script.aux &&
    ((script.aux.noTools && info.tools === 0) || (auxRe && new RegExp(auxRe).test(raw.toString('utf8'))));
  const n = script.countScope === 'all' ? info.all : info.results;
  const { turn, k } = aux ? { turn: { text: script.aux.text ?? { content: 'ok' } }, k: 0 } : turnFor(script, n);
  const id = `${process.pid}_${rec.seq}`;
  const vars = { n: n, k, id: rec.seq };
  const calls = turn.toolCalls?.map((c, i) => ({ ...subst(c, vars), id: `call_${rec.seq}_${i}` }));
  const kind = calls ? 'tool' : 'text';
  Object.assign(rec, {
    model,
    stream,
    msgs: info.msgs,
    toolResults: info.results,
    toolsOffered: info.tools,
    aux,
    turn: n,
    kind,
    ua: req.headers['user-agent'],
  });
  if (info.last !== undefined) rec.lastResult = textLen(info.last).slice(0, 160);
  if (opt.bodies) fs.writeFileSync(`${opt.bodies}/${run}-${rec.seq}.json`, raw);

  if (turn.status) return json(turn.status, turn.body ?? { error: { message: 'scripted error' } });
  const first = turn.firstDelayMs ?? script.firstDelayMs ?? 0;
  if (first) await sleep(first);

  const c = codecs[api](id, model, body, path, query);
  const chunks = calls ? null : chunksOf(turn.text);
  if (!stream) return json(200, c.whole(chunks?.join(''), calls));

  rec.status = 200;
  res.writeHead(200, { 'content-type': c.type, 'cache-control': 'no-cache' });
  let out = 0;
  const put = (s) => {
    out += s.length;
    return res.write(s);
  };
  rec.t_first = now();
  if (calls) {
    const s = c.open() + c.tools(calls) + c.close('tool');
    out += s.length;
    res.end(s);
  } else if (chunks.length === 1) {
    const s = c.open() + c.text(chunks[0]) + c.close('text');
    out += s.length;
    res.end(s);
  } else {
    const batch = turn.text.batch ?? 1;
    const delay = turn.text.delayMs ?? 0; // per chunk, held on average
    const t0 = rec.t_first;
    let i = 0;
    const head = c.open();
    if (head) put(head);
    while (i < chunks.length && !res.destroyed) {
      let m = batch;
      if (delay) {
        const due = Math.min(chunks.length, Math.floor((now() - t0) / delay) + 1);
        if (due <= i) {
          await sleep(1);
          continue;
        }
        m = due - i;
      }
      let s = '';
      for (let j = 0; j < m && i < chunks.length; j++, i++) s += c.text(chunks[i]);
      if (!put(s)) await drain(res);
    }
    const s = c.close('text');
    out += s.length;
    res.end(s);
    rec.chunks = chunks.length;
  }
  rec.t_last = now();
  rec.bytesOut = out;
}

async function control(req, res, path) {
  const raw = await readBody(req);
  const send = (o) => {
    const s = J(o);
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(s) });
    res.end(s);
  };
  if (path === '/__fake/script') {
    const b = JSON.parse(raw);
    script = b.script;
    run = b.run ?? 'none';
    records = [];
    for (const t of [...script.turns, script.aux ?? {}]) if (t.text) chunksOf(t.text); // made before the clock runs
    return send({ ok: true });
  }
  if (path === '/__fake/log') return send(records);
  if (path === '/__fake/reset') {
    records = [];
    return send({ ok: true });
  }
  res.writeHead(404).end();
}

const server = http.createServer({ keepAliveTimeout: 70_000, noDelay: true }, (req, res) => {
  handle(req, res).catch((e) => {
    console.error('fakellm:', e);
    if (!res.headersSent) res.writeHead(500);
    res.end();
  });
});
server.requestTimeout = 0;
server.on('connection', (s) => {
  s.fakeId = connSeq++;
  s.fakeUses = 0;
});
server.listen(Number(opt.port ?? 0), HOST, () => {
  const { port } = server.address();
  if (opt['port-file']) fs.writeFileSync(opt['port-file'], String(port));
  console.log(`fakellm listening on http://${HOST}:${port} script=${script.name ?? ''}`);
});
for (const sig of ['SIGTERM', 'SIGINT'])
  process.on(sig, () => {
    server.close();
    server.closeAllConnections();
    logStream?.end();
    setTimeout(() => process.exit(0), 50).unref();
  });

function parseArgs(a) {
  const o = {};
  for (let i = 0; i < a.length; i++) {
    if (!a[i].startsWith('--')) throw new Error(`unexpected argument ${a[i]}`);
    const [k, v] = a[i].slice(2).split('=');
    if (k === 'codex-models') o[k] = true;
    else o[k] = v ?? a[++i];
  }
  return o;
}
