import { describe, expect, it } from 'vitest';
import { createMask, type Mask } from '../../src/registry/mask.ts';
import { createSecrets } from '../../src/registry/secrets.ts';

const key = 'sk-Zebra+42/tail==';

function masked(text: string): string {
  const mask = createMask();
  mask.register('far.key', key);
  return mask.mask(text);
}

describe('known values', () => {
  it('are replaced by their label wherever they stand', () => {
    expect(masked(`a ${key} b ${key}`)).toBe('a •••(far.key) b •••(far.key)');
    expect(masked('nothing here')).toBe('nothing here');
  });

  it('are replaced in percent-encoded form, in either case', () => {
    expect(masked('x=sk-Zebra%2B42%2Ftail%3D%3D&y')).toBe('x=•••(far.key)&y');
    expect(masked('x=sk-Zebra%2b42%2ftail%3d%3d')).toBe('x=•••(far.key)');
  });

  it('are replaced inside base64 at each of the three places', () => {
    for (const before of ['', 'u:', 'us:', 'use:']) {
      const encoded = Buffer.from(`${before}${key} and more`).toString('base64');
      const text = masked(`Basic ${encoded}.`);
      expect(text).toContain('•••(far.key)');
      // What is left of the encoding no longer holds the middle of the value.
      expect(Buffer.from(text.replace('•••(far.key)', ''), 'base64').toString()).not.toContain('Zebra');
    }
  });

  it('are replaced inside JSON text that escapes them', () => {
    const mask = createMask();
    mask.register('a.b', 'say "hello" now');
    expect(mask.mask(JSON.stringify({ a: 'say "hello" now' }))).toBe('{"a":"•••(a.b)"}');
  });

  it('are left alone below eight characters', () => {
    const mask = createMask();
    mask.register('a.b', 'short12');
    expect(mask.mask('a short12 b')).toBe('a short12 b');
  });

  it('are replaced as a whole when one contains another', () => {
    const mask = createMask();
    mask.register('short', 'abcdefgh');
    mask.register('long', 'xx-abcdefgh-yy');
    expect(mask.mask('xx-abcdefgh-yy abcdefgh')).toBe('•••(long) •••(short)');
  });

  it('are counted for results on their way to the model, which patterns leave alone', () => {
    const mask = createMask();
    mask.register('far.key', key);
    expect(mask.maskKnown(`${key} ${key} https://u:p@h/`)).toEqual({
      text: '•••(far.key) •••(far.key) https://u:p@h/',
      count: 2,
    });
  });
});

/** The text as a mask shows it piece by piece. */
function inPieces(mask: Mask, text: string, size: number): string {
  const stream = mask.stream();
  let shown = '';
  for (let at = 0; at < text.length; at += size) shown += stream.push(text.slice(at, at + size));
  return shown + stream.end();
}

describe('a text in pieces', () => {
  const forms = [key, encodeURIComponent(key), Buffer.from(key).toString('base64').replace(/=+$/, '')];
  const text = `a ${forms.join(' and ')} sk-Zeb is no key, sk-sk-Zebra+42/tail==sk-Z`;

  it('hides known values however it is cut', () => {
    const mask = createMask();
    mask.register('far.key', key);
    const whole = mask.maskKnown(text).text;
    for (let size = 1; size <= text.length; size += 1) {
      expect([size, inPieces(mask, text, size)]).toEqual([size, whole]);
    }
  });

  it('holds back only what may become a value, and nothing when none is known', () => {
    const mask = createMask();
    const stream = mask.stream();
    expect(stream.push('sk-Zebra')).toBe('sk-Zebra');
    mask.register('far.key', key);
    expect(stream.push('one sk-Zeb')).toBe('one ');
    expect(stream.push('u and more')).toBe('sk-Zebu and more');
    expect([stream.push('sk-'), stream.end(), stream.end()]).toEqual(['', 'sk-', '']);
  });

  it('waits for the longer of two values that begin alike', () => {
    const mask = createMask();
    mask.register('short', 'abcdefgh');
    mask.register('long', 'abcdefgh-and-more');
    const stream = mask.stream();
    expect(stream.push('x abcdefgh')).toBe('x ');
    expect(stream.push('-and-more y')).toBe('•••(long) y');
    expect(stream.push('abcdefgh-and') + stream.push('!')).toBe('•••(short)-and!');
  });

  it('drops the value of a header as it comes, and holds back no more of its name than of other text', () => {
    const stream = createMask().stream();
    const pieces = ['It sends Auth', 'orization: ', 'Bea', 'rer abc', '.def\nand a', 'sks again'];
    expect(pieces.map((piece) => stream.push(piece))).toEqual([
      'It sends Auth',
      'orization: ',
      // A scheme, behind which a placeholder might stand.
      '',
      '•••',
      '\nand a',
      'sks again',
    ]);
    expect(stream.end()).toBe('');
  });

  it('holds back an address until its host is known for one, and what may be a token until it is none', () => {
    const stream = createMask().stream();
    expect(stream.push('see https://')).toBe('see https://');
    expect([stream.push('exam'), stream.push('ple.org/a')]).toEqual(['', 'example.org/a']);
    expect([stream.push(' eyJhbGciOi'), stream.push('JIUzI1 and')]).toEqual([' ', 'eyJhbGciOiJIUzI1 and']);
    expect([stream.push(' ftp://u:p'), stream.push('@h eyJhbGciOi.eyJzdWIi.c2')]).toEqual([' ftp://', '•••@h ']);
    expect([stream.push('lnbm'), stream.push('F0 x')]).toEqual(['•••', ' x']);
    expect([stream.push('https://u:p'), stream.end(), stream.end()]).toEqual(['https://', 'u:p', '']);
  });

  it('takes time in proportion to hostile text in small pieces', () => {
    const hostile = [
      `eyJ${'a'.repeat(8000)} `.repeat(100),
      'eyJaaaaaa.eyJaaaaaa,'.repeat(40_000),
      'http://aaaaaaa/'.repeat(50_000),
      '?a.a.a.a.a.a'.repeat(60_000),
      '-----BEGIN '.repeat(70_000),
      `authorization: ${'a'.repeat(800_000)}`,
    ];
    for (const text of hostile) expect(inPieces(createMask(), text, 20).length).toBeGreaterThan(0);
  });
});

describe('patterns', () => {
  it.each([
    ['Authorization: Bearer abc.def', 'Authorization: •••'],
    ['{"authorization":"Bearer abc","x":1}', '{"authorization":"•••","x":1}'],
    ['Set-Cookie: a=b; Path=/\r\nx: y', 'Set-Cookie: •••\r\nx: y'],
    ["curl -H 'X-Api-Key: 12345' u", "curl -H 'X-Api-Key: •••' u"],
    // What follows the value is the sentence that speaks of it.
    ['Send Authorization: Bearer abc.def with each call.', 'Send Authorization: ••• with each call.'],
    ['`Authorization: Basic YWI6Yw==`, then retry', '`Authorization: •••`, then retry'],
    ['**Authorization:** Bearer abc.def, then retry', '**Authorization:** ••• then retry'],
    ['X-Api-Key: 12345 goes into .env', 'X-Api-Key: ••• goes into .env'],
    ['authorization: `Bearer abc.def` // a', 'authorization: `•••` // a'],
    ['Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature=c', 'Authorization: •••'],
    ['Cookie: theme="dark one"; session=abc\nnext', 'Cookie: •••\nnext'],
    ['Authorization: Digest username="bob", response="abc"\nnext', 'Authorization: •••\nnext'],
    ['{"Authorization":"Basic YWI6Yw=","a":1}', '{"Authorization":"•••","a":1}'],
    ['curl -H "X-Api-Key: abc=" -o b', 'curl -H "X-Api-Key: •••" -o b'],
    ['"X-Api-Key: abc="', '"X-Api-Key: •••"'],
    ['u?ApiKey=abc&access_TOKEN=abc&idToken=abc&keyword=a', 'u?ApiKey=•••&access_TOKEN=•••&idToken=•••&keyword=a'],
    ['Cookie: a=b; c=d and more\nnext', 'Cookie: •••\nnext'],
    ['Authorization: Bearer $2b$10$abc next', 'Authorization: ••• next'],
    [`Authorization: Bearer <${'a'.repeat(80)}> next`, 'Authorization: ••• next'],
    ['https://user:pass@host/path', 'https://•••@host/path'],
    ['GET /a?b=1&access_token=xyz&c=2', 'GET /a?b=1&access_token=•••&c=2'],
    ['/cb?code=123#f', '/cb?code=•••#f'],
    ['/x?signature=ab%20c', '/x?signature=•••'],
    ['token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl end', 'token ••• end'],
    [
      'a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nb',
      'a\n-----BEGIN RSA PRIVATE KEY-----•••-----END RSA PRIVATE KEY-----\nb',
    ],
    ['-----BEGIN PRIVATE KEY-----\nMIIE cut off', '-----BEGIN PRIVATE KEY-----•••'],
    [
      '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----',
      '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----',
    ],
    // Longer than such values are: the rest is no part of it.
    [`https://${'u'.repeat(513)}@h/`, `https://${'u'.repeat(513)}@h/`],
    [`x-api-key: ${'k'.repeat(8200)}"`, 'x-api-key: •••kkkkkkk"'],
    ['Cookie: •••, ?key=••x', 'Cookie: •••, ?key=•••'],
    ['http://http://u:p@h eyJa.eyJhbGciOi.eyJzdWIi.c2lnbmF0', 'http://http://•••@h eyJa.•••'],
  ])('hide %j, in one piece and in many', (text, expected) => {
    const mask = createMask();
    expect(mask.mask(text)).toBe(expected);
    const most = Math.min(text.length, 40);
    for (let size = 1; size <= most; size += 1) expect([size, inPieces(mask, text, size)]).toEqual([size, expected]);
  });

  it.each([
    'the author is: me',
    'ask for a cookie recipe',
    'the `Authorization:` header must be there',
    'curl -H "Authorization: Bearer $API_TOKEN" u',
    'headers: { Authorization: `Bearer {{token}}` }',
    'Send Authorization: Bearer <token>, then X-Api-Key: {{key}}.',
    'mail me@example.org about https://example.org/a',
    '?q=keyboard&page=2',
    'a == b && key = 3',
    'eyJ is how such tokens begin',
  ])('leave %j as it is', (text) => {
    expect(createMask().mask(text)).toBe(text);
    expect(inPieces(createMask(), text, 1)).toBe(text);
  });

  it('change nothing a second time', () => {
    const once = masked(`Authorization: Bearer ${key}\nhttps://u:${key}@h/?token=${key}`);
    expect(masked(once)).toBe(once);
  });

  it('take time in proportion to hostile text', () => {
    const mask = createMask();
    const hostile = [
      'eyJ-'.repeat(250_000),
      '-----BEGIN '.repeat(90_000),
      `${'-----BEGIN PRIVATE KEY-----'.repeat(30_000)}`,
      'a.'.repeat(500_000),
      '://@'.repeat(250_000),
      '&token'.repeat(150_000),
      'authorization:'.repeat(70_000),
    ];
    for (const text of hostile) expect(mask.mask(text).length).toBeGreaterThan(0);
  });
});

describe('values of any depth', () => {
  it('are masked in strings, keys and members with the names of credential headers', () => {
    const mask = createMask();
    mask.register('far.key', key);
    expect(
      mask.maskDeep({ a: [`x ${key}`, 1, null], [key]: true, headers: { Authorization: 'Bearer q', Accept: '*/*' } }),
    ).toEqual({
      a: ['x •••(far.key)', 1, null],
      '•••(far.key)': true,
      headers: { Authorization: '•••', Accept: '*/*' },
    });
  });

  it('come back as they are when there is nothing to hide', () => {
    const mask = createMask();
    mask.register('far.key', key);
    const value = { a: [{ b: 'text that is long enough' }], c: null };
    expect(mask.maskDeep(value)).toBe(value);
  });

  it('are masked in keys that were seen before they became known', () => {
    const mask = createMask();
    expect(mask.maskDeep({ [key]: 1, Cookie: 'a' })).toEqual({ [key]: 1, Cookie: '•••' });
    mask.register('far.key', key);
    expect(mask.maskDeep({ [key]: 1, Cookie: 'a' })).toEqual({ '•••(far.key)': 1, Cookie: '•••' });
  });
});

describe('variables', () => {
  const secrets = createSecrets({ environment: { A_KEY: 'value-of-a-key', EMPTY: '' } });

  it('are read at the moment of use, and their values are known from then on', () => {
    const environment: Record<string, string | undefined> = {};
    const later = createSecrets({ environment });
    expect(later.read('NEW_KEY', 'b.key')).toBeNull();
    environment['NEW_KEY'] = 'set-afterwards';
    expect(later.mask('set-afterwards')).toBe('set-afterwards');
    expect(later.read('NEW_KEY', 'b.key')).toBe('set-afterwards');
    expect(later.mask('it is set-afterwards')).toBe('it is •••(b.key)');
  });

  it('count as unset when they are empty, or inherited', () => {
    expect(secrets.isSet('EMPTY')).toBe(false);
    expect(secrets.isSet('toString')).toBe(false);
    expect(secrets.read('toString', 'x')).toBeNull();
  });

  it('are put into header values; other dollars are literal', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax under test
    const text = 'Bearer ${env:A_KEY} $5 ${other}';
    expect(secrets.expand(text, 'b.x')).toEqual({
      kind: 'value',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax under test
      value: 'Bearer value-of-a-key $5 ${other}',
    });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax under test
    expect(secrets.expand('${env:EMPTY} ${env:NONE}', 'b.x')).toEqual({ kind: 'missing', variable: 'EMPTY' });
  });

  it('are known without the scheme that stands before them, and as each of several cookies', () => {
    const known = createSecrets({ environment: { AUTH: 'Token token-of-a-variable' } });
    for (const text of ['Bearer token-of-a-header', `\${env:AUTH}`, 'sid=first-cookie; lang=en; b=second-cookie']) {
      known.expand(text, 'svc.x');
    }
    known.expand(`Basic ${Buffer.from('me:password-of-me').toString('base64')}`, 'svc.x');
    for (const secret of [
      'token-of-a-header',
      'token-of-a-variable',
      'first-cookie',
      'second-cookie',
      'password-of-me',
    ]) {
      expect(known.mask(`bad: ${secret}.`)).toBe('bad: •••(svc.x).');
    }
    expect(known.mask('lang=en')).toBe('lang=en');
    // Not every word before another one is a scheme.
    known.expand('acme corporation', 'svc.tenant');
    expect(known.mask('a corporation')).toBe('a corporation');
  });
});
