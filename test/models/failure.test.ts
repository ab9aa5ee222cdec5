import { describe, expect, it } from 'vitest';
import { brokenFailure } from '../../src/models/broken.ts';
import { failure, httpFailure, type Origin, retryAfter, streamFailure } from '../../src/models/failure.ts';

const origin: Origin = {
  backend: 'far',
  base_url: 'https://h.example/v1/private-path',
  key: 'sk-1234567890',
  headers: { 'x-token': 'Bearer tok-abcdefgh', 'x-short': 'abc' },
};
const now = Date.parse('2026-01-02T10:00:00Z');
const http = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  httpFailure(origin, { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body), now });

describe('class of an HTTP reply (08 §9.2)', () => {
  it.each([
    [400, { error: { code: 'context_length_exceeded' } }, 'context_exceeded'],
    [400, { error: { type: 'exceed_context_size_error' } }, 'context_exceeded'],
    [400, { error: { code: 'content_policy_violation', message: 'x' } }, 'content_filter'],
    [
      400,
      { error: { message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' } },
      'auth',
    ],
    [400, { error: { message: 'this model does not support image input' } }, 'unsupported'],
    [400, { message: 'odd' }, 'invalid_request'],
    [401, { error: { type: 'permission_error' } }, 'permission'],
    [403, { error: { code: 'insufficient_quota' } }, 'quota'],
    [403, { error: { type: 'billing_error' } }, 'quota'],
    [404, { error: { code: 'model_not_found', message: 'x' } }, 'model_not_found'],
    [404, { error: { message: 'No endpoints found that support tool use' } }, 'no_tool_support'],
    [404, '404 page not found', 'invalid_request'],
    [400, { error: { message: 'Tool calling is not supported with this model' } }, 'no_tool_support'],
    [500, { error: { code: 500, message: 'tools param requires --jinja flag' } }, 'no_tool_support'],
    [400, { error: { code: 'tool_use_failed', message: 'Failed to call a function.' } }, 'malformed'],
    [429, { error: { type: 'exceeded_current_quota_error', message: 'x' } }, 'quota'],
    [413, { error: { code: 'rate_limit_exceeded', message: 'too large' } }, 'context_exceeded'],
    [413, '<html><h1>413 Request Entity Too Large</h1><hr>nginx</html>', 'context_exceeded'],
    [413, { error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } }, 'context_exceeded'],
    [429, 'billing limit reached', 'quota'],
    [429, { error: { type: 'requests', message: 'see your billing page' } }, 'rate_limit'],
    [500, { error: 'model "x" not found, try pulling it first' }, 'model_not_found'],
    // How services say that they do not have a model.
    [400, { error: { message: 'foo/bar is not a valid model ID', code: 400 } }, 'model_not_found'],
    [404, { error: { message: 'No endpoints found for foo/bar.', code: 404 } }, 'model_not_found'],
    [400, { error: { message: 'Model Not Exist', code: 'invalid_request_error' } }, 'model_not_found'],
    [400, { object: 'error', message: 'Invalid model: foo', type: 'invalid_model', code: '1500' }, 'model_not_found'],
    [400, { error: { message: 'The model `x` has been decommissioned.', code: 'x' } }, 'model_not_found'],
    [400, { error: 'No models loaded. Please load a model in the developer page.' }, 'model_not_found'],
    [400, { error: { message: 'Invalid model name passed in model=foo.', code: '400' } }, 'model_not_found'],
    [
      400,
      { error: { message: 'The requested model is not supported.', code: 'model_not_supported' } },
      'model_not_found',
    ],
    [404, { error: { code: 'DeploymentNotFound', message: 'The API deployment does not exist.' } }, 'model_not_found'],
    [400, { message: 'The provided model identifier is invalid.' }, 'model_not_found'],
    [400, { error: { message: 'Invalid model parameter: top_p' } }, 'invalid_request'],
    [404, { error: { message: 'No endpoints found that support image input', code: 404 } }, 'unsupported'],
    [400, { error: { message: 'API key expired. Please renew the API key.', status: 'INVALID_ARGUMENT' } }, 'auth'],
    [400, { error: { message: 'Budget has been exceeded!', type: 'budget_exceeded' } }, 'quota'],
    [401, { error: { message: 'key not allowed', type: 'key_model_access_denied', code: '401' } }, 'permission'],
    [403, { error: { message: 'Your input was flagged for "violence".', code: 403 } }, 'content_filter'],
    [
      429,
      { error: { message: 'Request too large for gpt-x: Limit 3, Requested 5', code: 'rate_limit_exceeded' } },
      'context_exceeded',
    ],
    [500, { error: { code: 500, message: 'Failed to parse input at pos 9: model x not found' } }, 'malformed'],
    [400, { error: 'The model has crashed without additional information. (Exit code: null)' }, 'server_error'],
    [400, { error: { message: "Tool call validation failed: attempted to call tool 'x', not a model" } }, 'malformed'],
    // Limits that last for hours.
    [429, { error: { code: 429, message: 'Rate limit exceeded: free-models-per-day. Add 10 credits' } }, 'quota'],
    [429, { error: { type: 'rate_limit_error', code: '429', message: 'free-models-per-day-high-balance.' } }, 'quota'],
    [429, { error: { code: 429, message: 'Rate limit exceeded: free-models-per-min.' } }, 'rate_limit'],
    [429, { error: 'you (me) have reached your weekly usage limit, upgrade for higher limits' }, 'quota'],
    [502, 'Bad gateway', 'server_error'],
    [301, '', 'permanent'],
  ])('reads %i with %j as %s', (status, body, expected) => {
    expect(http(status, body).class).toBe(expected);
  });

  it.each([
    ['GenerateRequestsPerDayPerProjectPerModel-FreeTier', 'quota', /of the day/],
    ['GenerateRequestsPerMinutePerProjectPerModel-FreeTier', 'rate_limit', /^(?!.*of the day)/],
  ])('tells a limit of the day from one of the minute: %s', (quotaId, expected, words) => {
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId, quotaValue: '20' }] },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' },
    ];
    const error = { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Please retry in 34s.', details };
    expect(http(429, [{ error }])).toMatchObject({ class: expected, message: expect.stringMatching(words) });
  });

  it('reads from the body of a router when its limit ends', () => {
    const headers = { 'X-RateLimit-Reset': String(now + 42_000) };
    const error = { code: 429, message: 'Rate limit exceeded: free-models-per-min.', metadata: { headers } };
    expect(http(429, { error }).retry_after_ms).toBe(42_000);
    expect(http(429, { error }, { 'retry-after': '7' }).retry_after_ms).toBe(7000);
  });

  it('takes the class from the words before it looks at the text', () => {
    expect(http(529, { error: { type: 'overloaded_error', message: 'maximum context length' } }).class).toBe(
      'overloaded',
    );
  });

  it.each([
    ["This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", 8192],
    ['request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it', 4096],
    ['the model is loaded with context length of only 2048 tokens, which is not enough', 2048],
    ['prompt is too long: 205000 tokens > 200000 maximum', 200_000],
    ['The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
    ['too many tokens', undefined],
    [
      'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 303000 tokens. Please reduce the length of the messages.',
      272_000,
    ],
    ['Prompt contains 40000 tokens, too large for model with 32768 maximum context length', 32_768],
    ['The decoder prompt (length 21535) is longer than the maximum model length of 16384.', 16_384],
    ["This model's maximum prompt length is 131072 but the request contains 150000 tokens.", 131_072],
    ['Input length 131393 exceeds the maximum allowed input length of 131040 tokens.', 131_040],
    ['input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length', 200_000],
    ['Invalid request: Your request exceeded model token limit: 262144', 262_144],
    ['prompt too long; exceeded max context length by 3024 tokens', undefined],
    ['the maximum context length is 128,000 tokens', undefined],
    ['Input is too long for requested model.', undefined],
    ['Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000', undefined],
    ['<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]', undefined],
    ['Please reduce the length of the messages or completion.', undefined],
    ['Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7012', undefined],
    ['Request body too large for gpt-4o model. Max size: 8000 tokens.', undefined],
    ['Prompt exceeds max length', undefined],
    ['context length exceeded: 400', undefined],
  ])('keeps the context length that a server names: %s', (message, tokens) => {
    expect(http(400, { error: { message } })).toMatchObject({ class: 'context_exceeded' });
    expect(http(400, { error: { message } }).context_tokens).toBe(tokens);
  });

  it.each([404, 405])('tells to check the URL where nothing stands at it: %i', (status) => {
    expect(http(status, { detail: 'Not Found' }).message).toBe(
      `backend "far" answered ${status}: Not Found; check its URL: reins backend show far`,
    );
  });

  it('shows a page as plain text', () => {
    const page = '<html><head><style>\nbody { color: red }\n</style><script>go()</script></head>busy</html>';
    expect(http(503, page).message).toBe('backend "far" answered 503: busy');
    expect(http(502, '<html><h1>Bad\n gateway</h1></html>').message).toBe('backend "far" answered 502: Bad gateway');
  });

  it('reads what a router encloses of the provider behind it', () => {
    const raw = JSON.stringify({ error: { message: "This model's maximum context length is 8192 tokens." } });
    expect(http(400, { error: { code: 400, message: 'Provider returned error', metadata: { raw } } })).toMatchObject({
      class: 'context_exceeded',
      message:
        'backend "far" answered 400: Provider returned error: This model\'s maximum context length is 8192 tokens.',
      context_tokens: 8192,
    });
  });

  it('says how to sign in where an Ollama server asks for it', () => {
    expect(http(401, { error: 'unauthorized', signin_url: 'https://h.example/connect' }).message).toBe(
      'backend "far" answered 401: unauthorized; sign in with: ollama signin',
    );
  });

  it('names the variable whose key was refused, and nothing where another thing is wrong', () => {
    const from = { ...origin, key_env: 'FAR_KEY' };
    const reply = (status: number) => ({ status, headers: {}, body: '{"error":"no"}', now: 0 });
    expect([401, 400].map((status) => httpFailure(from, reply(status)).message)).toEqual([
      'backend "far" answered 401: no; its key is that of FAR_KEY',
      'backend "far" answered 400: no',
    ]);
  });

  it('names no field where a proxy writes that there is none', () => {
    expect(http(400, { error: { message: 'odd', param: 'None' } }).message).toBe('backend "far" answered 400: odd');
  });

  it('names the field that the error object names', () => {
    expect(http(400, { error: { message: 'not allowed', param: 'seed' } }).message).toBe(
      'backend "far" answered 400: not allowed (seed)',
    );
  });
});

describe('class of an error inside a stream', () => {
  it.each([
    [{ error: { type: 'server_error', message: 'x' } }, 'server_error'],
    [{ error: { type: 'rate_limit_error' } }, 'rate_limit'],
    [{ error: { code: 529, message: 'x' } }, 'overloaded'],
    [{ error: { message: 'Rate limit reached' } }, 'rate_limit'],
    [{ error: { message: 'litellm.RateLimitError: x' } }, 'rate_limit'],
    [{ error: { message: 'x', code: '500' } }, 'server_error'],
    [{ error: { message: 'x', code: '1500' } }, 'permanent'],
    [{ error: 'request timed out' }, 'timeout'],
    [{ error: 'error parsing tool call: raw=\'{"q":"model not found"\', err=unexpected end' }, 'malformed'],
    [{ error: 'XML syntax error on line 127: element <parameter> closed by </function>' }, 'malformed'],
    [{ error: 'failed to parse XML: XML syntax error on line 1: element <tool_call> closed by </x>' }, 'malformed'],
    [{ error: 'expected element type <function> but have <parameter>' }, 'malformed'],
    [{ error: [1] }, 'permanent'],
    [{ error: null }, 'permanent'],
  ])('reads %j as %s', (value, expected) => {
    expect(streamFailure(origin, value).class).toBe(expected);
  });
});

describe('time to wait (08 §9.3)', () => {
  it.each([
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Fri, 02 Jan 2026 10:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Fri, 02 Jan 2026 10:00:30 GMT', date: 'Fri, 02 Jan 2026 10:00:20 GMT' }, 10_000],
    [{ 'retry-after': 'Fri, 02 Jan 2026 09:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, null],
    [{}, null],
  ])('reads %j as %s ms', (headers, expected) => {
    expect(retryAfter(headers, now)).toBe(expected);
  });
});

describe('secrets in failures (08 §11.4)', () => {
  it.each([
    ['sk-1234567890', '•••(far.key)'],
    [encodeURIComponent('Bearer tok-abcdefgh'), '•••(far.x-token)'],
    ['tok-abcdefgh', '•••(far.x-token)'],
    [Buffer.from('sk-1234567890').toString('base64'), '•••(far.key)=='],
    ['abc', 'abc'],
  ])('shows %s as %s', (secret, shown) => {
    expect(failure(origin, 'permanent', `got ${secret}.`).message).toBe(`got ${shown}.`);
  });

  it('masks a key where the text of a page is cut', () => {
    const body = `${'x'.repeat(295)}sk-1234567890`;
    const { message } = httpFailure(origin, { status: 500, headers: {}, body, now: 0 });
    expect(message).not.toContain('sk-1');
  });

  it('cuts a message to 1000 characters after masking', () => {
    const { message } = failure(origin, 'permanent', `${'x'.repeat(995)}sk-1234567890`);
    expect(message).toHaveLength(1000);
    expect(message).not.toContain('sk-');
  });
});

describe('a broken connection', () => {
  const network = (code: string, started = false) =>
    brokenFailure(origin, { kind: 'network', error: Object.assign(new Error(`${code} text`), { code }), started });

  it.each([
    ['ECONNREFUSED', 'connect', 'cannot reach backend "far" at https://h.example: connection refused'],
    ['ENOTFOUND', 'connect', 'cannot reach backend "far" at https://h.example: the host name is not known'],
    ['CERT_HAS_EXPIRED', 'connect', 'cannot reach backend "far" at https://h.example: CERT_HAS_EXPIRED text'],
    ['HPE_INVALID_CONSTANT', 'malformed', 'backend "far" sent an undecodable HTTP reply: HPE_INVALID_CONSTANT text'],
    ['ERR_INVALID_CHAR', 'invalid_request', 'the request to backend "far" cannot be sent: ERR_INVALID_CHAR text'],
  ])('reads %s as %s', (code, expected, message) => {
    expect(network(code)).toMatchObject({ class: expected, message });
  });

  it('says that a server without TLS is asked for it', () => {
    const error = Object.assign(
      new Error('write EPROTO 80:error:0A00010B:SSL routines::wrong version number:x.c:350:'),
      {
        code: 'EPROTO',
      },
    );
    expect(brokenFailure(origin, { kind: 'network', error, started: false }).message).toBe(
      'cannot reach backend "far" at https://h.example: it does not speak TLS there; a URL with http:// may be meant',
    );
  });

  it.each([
    ['SELF_SIGNED_CERT_IN_CHAIN', true],
    ['ERR_TLS_CERT_ALTNAME_INVALID', true],
    ['CERT_HAS_EXPIRED', true],
    ['ECONNREFUSED', undefined],
    ['ENOTFOUND', undefined],
  ])('is not tried again where the next attempt would meet the same: %s', (code, futile) => {
    expect(network(code)).toMatchObject({ class: 'connect' });
    expect(network(code).futile).toBe(futile);
  });

  it('is a server error once the reply had begun', () => {
    expect(network('ECONNRESET', true).class).toBe('server_error');
  });
});
