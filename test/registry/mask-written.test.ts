import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { maskResultWith } from '../../src/app/mask-result.ts';
import { createMask } from '../../src/registry/mask.ts';

const key = 'sk-live-4f9Kq2Lw8Zr1Xy7Tn3Vb6Md0';
const odd = `p&ss "w<rd"/'$1!`;
const mask = createMask();
mask.register('far.key', key);
mask.register('db.password', odd);
const env = Array.from({ length: 9 }, (_, index) => `NAME_${index}=value ${index}\n`).join('');
const file = `${env}API_KEY=${key}\n${env}`;
const by = (command: string, args: readonly string[], input: string): string =>
  execFileSync(command, args, { input, encoding: 'utf8' });

describe('a file with a known value is hidden as programs print it', () => {
  test.each([
    ['base64', []],
    ['base64', ['-w', '64']],
    ['xxd', []],
    ['xxd', ['-p']],
    ['xxd', ['-g1', '-c8']],
    ['hexdump', ['-C']],
    ['od', ['-A', 'x', '-t', 'x1']],
    ['od', ['-A', 'x', '-t', 'x1z']],
    ['openssl', ['base64']],
    ['base64', ['-w', '0']],
  ])('%s %j', (command, args) => {
    for (let shift = 0; shift < 4; shift += 1) {
      let text: string;
      try {
        text = by(command, args, 'x'.repeat(shift) + file);
      } catch (error) {
        // Not on this machine.
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
        throw error;
      }
      for (const printed of [text, text.replaceAll('\n', '\r\n'), text.replaceAll(/^(?=.)/gm, '    ')]) {
        if (printed.startsWith(' ') && !command.includes('64')) continue;
        const { text: shown, count } = mask.maskKnown(printed);
        expect([shift, count, shown.split('•••(far.key)').length]).toEqual([shift, 1, 2]);
        expect(shown.length).toBeGreaterThan(printed.length / 2);
        expect(decoded(shown)).not.toContain(key.slice(4, -4));
      }
    }
  });
});

/** What somebody sees who puts together what is left. */
function decoded(text: string): string {
  const joined = text.replaceAll(/\s/g, '');
  const hex = [...text.matchAll(/[0-9a-f]{2}/g)].map(([pair]) => pair).join('');
  return [joined, Buffer.from(joined, 'base64').toString('latin1'), Buffer.from(hex, 'hex').toString('latin1')].join();
}

test('what looks like it and holds no known value stays as it is', () => {
  const texts = [
    by('base64', [], env.repeat(3)),
    '00000000: 6162 6364  abcd\n',
    `${'a'.repeat(60)}\n`.repeat(4),
    'deadbeef  0a\n',
    `${'f'.repeat(41)}`,
    '',
  ];
  for (const text of texts) expect(mask.maskKnown(text)).toEqual({ text, count: 0 });
});

test.each([
  ['JSON in JSON', JSON.stringify(JSON.stringify(odd))],
  ['JSON of Go', JSON.stringify(odd).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`)],
  ['JSON of PHP', JSON.stringify(odd).replaceAll('/', '\\/')],
  ['a query by Python', 'p%26ss%20%22w%3Crd%22/%27%241%21'],
  ['a query by curl', 'p%26ss%20%22w%3Crd%22%2F%27%241%21'],
  ['a form', 'p%26ss+%22w%3Crd%22%2F%27%241%21'],
  ['markup', 'p&amp;ss &quot;w&lt;rd&quot;/&#39;$1!'],
  ['export -p of bash', 'p&ss \\"w<rd\\"/\'\\$1!'],
  ['printf %q', 'p\\&ss\\ \\"w\\<rd\\"/\\\'\\$1\\!'],
  ['quotes of a shell', `'p&ss "w<rd"/'\\''$1!'`],
])('a value with signs is hidden in %s', (_what, text) => {
  expect(mask.maskKnown(`a=${text};`).text).toContain('•••(db.password)');
});

test('a value that was read with its line end is hidden without it', () => {
  const own = createMask();
  own.register('far.key', `${key}\n`);
  expect(own.mask(`the key is ${key}.`)).toBe('the key is •••(far.key).');
});

test.each([8, 12, 16, 20, 24, 64])(
  'a private key whose last line has %i characters is hidden line by line, with any line ends, and one line alone',
  (tail) => {
    const letters = createHash('sha512').update(`key ${tail}`).digest('base64').replaceAll('=', 'A').slice(0, 64);
    const lines = [...letters.slice(0, 9)].map((_, row) => letters.slice(row) + letters.slice(0, row));
    lines.push([...letters].reverse().join('').slice(0, tail));
    const pem = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
    const own = createMask();
    own.register('app.key', pem);
    const indented = lines.map((line) => `    ${line}`).join('\n');
    for (const text of [pem, pem.replaceAll('\n', '\r\n'), JSON.stringify({ pem }), indented, ...lines]) {
      const shown = own.maskKnown(text).text;
      for (const line of lines) expect(shown).not.toContain(line.slice(0, 8));
    }
  },
);

test('a value in a name of a member, as of a file in a listing, is hidden from the model', () => {
  const result = { ok: true, value: { files: { [`${key}.txt`]: { size: 1 } } } } as const;
  expect(maskResultWith(mask)(result)).toEqual({
    ok: true,
    value: { files: { '•••(far.key).txt': { size: 1 } }, known_secrets_masked: 1 },
  });
});

test.each([
  ['base64', 'base64', ['-w', '76']],
  ['hexadecimal text', 'xxd', ['-p']],
  ['a dump', 'xxd', []],
] as const)('%s that holds a value ten thousand times is hidden before anybody loses patience', (_, command, args) => {
  let printed: string;
  try {
    printed = execFileSync(command, [...args], {
      input: `${key} pad\n`.repeat(40_000),
      encoding: 'utf8',
      maxBuffer: 1e8,
    });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw error;
  }
  const begun = performance.now();
  expect(mask.maskKnown(printed).count).toBeGreaterThan(10_000);
  expect(performance.now() - begun).toBeLessThan(3000);
});
