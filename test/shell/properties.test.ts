import { readdirSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseScript } from '../../src/shell/parse-script.ts';
import { readCallWith, readOtherLine } from '../../src/shell/read-line.ts';
import { judge, load, plainHost, readFixture } from '../policy/virtual-host.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { createRecorders } from './recorders.ts';

let home: TempHome;
beforeEach(() => {
  home = tempHome();
});
afterEach(() => home.remove());

const listed = ['say', 'count'];
const others = ['rm', 'touch', 'sh', 'env', 'xargs', 'say2', 'A', 'x'];

/** Pieces that lines are put together from: words, quotes, operators, expansions, and what only looks like one. */
const pieces = fc.constantFrom(
  ...['say', 'count', 'say', 'count', 'rm', 'touch', 'sh', '-c', 'a', 'b c', 'x', 'A=1', 'if', 'then', '{', '}', '!'],
  ...[' ', ' ', ' ', ' ', '\t', '\n', '&&', '||', '|', ' && ', ' | ', ';', '&', '|&', '>', '<', '>>', '<<', '(', ')'],
  ...[
    "'",
    '"',
    "'a b'",
    '"a b"',
    "''",
    '\\',
    '$',
    '`',
    '$x',
    '$\u007bx}',
    '$(',
    '$((',
    "$'",
    '~',
    '*',
    '?',
    '[',
    ']',
    '#',
  ],
  ...['2>&1', '1>&2', '>/dev/null', ' 2>/dev/null', '</dev/null', '=', ':', ',', '-', '--', '/', '.', '%', '@', '^'],
  ...['./say', 'say2', '2', '1', '{rm,a}', 'é', '&>', '<(', '>(', '\\\n', '#x', '!x', '=rm', ';;', 'esac'],
);
/** Most are near what is granted, so that enough of them are. */
const plain = fc.constantFrom('say', 'count', "'a b'", '"c"', '2>&1', '>/dev/null', '-x', 'a*', "it''s", '"$x"', 'é');
const joined = fc.constantFrom(' ', ' ', ' ', ' && ', ' || ', ' | ', '&&', '|', '\t');
/** Lines of the fixture with the granted programs in the place of theirs, cut and put together anew. No path: a real one would run. */
const known = knownLines();
const spliced = fc
  .tuple(fc.constantFrom(...known), fc.constantFrom(...known), fc.nat(), fc.nat(), fc.oneof(joined, pieces))
  .map(([left, right, end, start, between]) => {
    const [head, tail] = [left.slice(0, end % (left.length + 1)), right.slice(start % (right.length + 1))];
    return head + between + tail;
  })
  .filter(hasNoPath);
const line = fc.oneof(
  spliced,
  fc.array(pieces, { minLength: 1, maxLength: 12 }).map((parts) => parts.join('')),
  fc
    .array(fc.tuple(plain, joined), { minLength: 1, maxLength: 8 })
    .map((parts) => parts.map(([word, between]) => word + between).join(''))
    .map((text) => `say ${text}count`),
);

describe('a line that is granted', () => {
  it('starts no program but the listed ones, with the words that were judged, under the real shell', async () => {
    const { programs, started } = createRecorders(home, [...listed, ...others]);
    const when = [{ key: 'command', op: 'command_prefix_allowlist', value: listed.join(',') }];
    const policy = await load({ rules: [{ tools: 'local_shell', action: 'allow', when }] });
    const facts = { ...plainHost, programs_dir: programs, programs: [...listed, ...others] };
    let granted = 0;
    fc.assert(
      fc.property(line, (command) => {
        const call = { tools: 'local_shell', tool: 'local_shell', args: { command, shell: true } };
        const record = judge(policy, call, facts);
        if (record.action !== 'allow') return;
        granted += 1;
        const reading = readCallWith(call.args, parseScript);
        if (reading === null || reading.form === 'none' || !reading.grant.ok) throw new Error('granted and not read');
        const read = reading.grant.line.commands.map(({ words }) => JSON.stringify(words));
        // As it was written, and as it runs. Behind `||` nothing runs, because no program fails.
        for (const text of [command, record.exec?.argv[2] ?? '']) {
          const found = started(text);
          expect(found.length, text).toBeGreaterThan(0);
          for (const words of found) expect(read, text).toContain(words);
        }
        expect(readdirSync(home.workspace)).toEqual([]);
      }),
      { numRuns: 600 },
    );
    expect(granted).toBeGreaterThan(30);
  }, 60_000);
});

describe('the reader', () => {
  it('gives a reading for any text, and never throws', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces, { maxLength: 60 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(text, (command) => {
        const reading = readCallWith({ command }, parseScript);
        expect(['argv', 'sh', 'none']).toContain(reading?.form);
        expect(['sh', 'none']).toContain(readOtherLine(command, parseScript).form);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    '$(',
    '`',
    '${',
    '"$(',
    '$((',
    '<(',
    '<<a ',
    'f() ',
    'coproc ',
    '! ',
    '(',
    '{ ',
    'if ',
    'X=a;',
    'a&&',
    '{a,b}',
  ])('comes to an end with 64 KiB of %j', (piece) => {
    const command = piece.repeat(Math.floor(65_536 / piece.length));
    const reading = readCallWith({ command }, parseScript);
    expect(reading).toMatchObject({ grant: { ok: false } });
  });

  it.each([
    `X='${'a '.repeat(30_000)}'; ${'$X; '.repeat(60)}`,
    `X='${'ls; '.repeat(8_000)}'; ${'eval "$X"; '.repeat(60)}`,
    `X=aaaaaaaa; ${'X=$X$X; '.repeat(60)}`,
    `X='eval "$Y"; eval "$Y"'; Y='eval "$Z"; eval "$Z"'; Z='eval "$X"'; ${'eval "$X"; '.repeat(60)}`,
    `${'{a,b}'.repeat(12_000)}`,
    `echo $((${'1+'.repeat(30_000)}1))`,
    `${'cd x; '.repeat(60)}`,
    `alias q='printf ${'a '.repeat(30_000)}'\n${'q|'.repeat(60)}sh`,
    `alias a='b|b' b='c|c' c='d|d' d='a|a'\n${'a|'.repeat(60)}sh`,
    `${'for i in a b c d e f g h; do '.repeat(12)}$i$i$i;${' done;'.repeat(12)}`,
  ])('does not multiply work with %#', (command) => {
    expect(readCallWith({ command }, parseScript)).toMatchObject({ form: 'sh', grant: { ok: false } });
  });

  it('finds what is denied behind any quoting of its name', async () => {
    const when = [{ key: 'command', op: 'command_blacklist', value: 'remove' }];
    const policy = await load({ default_action: 'allow', rules: [{ action: 'deny', when }] });
    const quoted = fc
      .tuple(
        fc.constantFrom('', '/bin/', '../bin/./'),
        fc.array(fc.constantFrom(0, 1, 2, 3, 4), { minLength: 6, maxLength: 6 }),
      )
      .map(([path, ways]) => path + [...'remove'].map((letter, index) => quote(letter, ways[index] ?? 0)).join(''));
    fc.assert(
      fc.property(quoted, fc.constantFrom('', 'env ', 'ls; ', '$(', "sh -c 'id' && ", 'timeout 5 '), (name, before) => {
        const command = `${before}${name} x${before === '$(' ? ')' : ''}`;
        const call = { tools: 'local_shell', tool: 'local_shell', args: { command } };
        expect(judge(policy, call).action, command).toBe('deny');
      }),
      { numRuns: 300 },
    );
  });
});

function knownLines(): readonly string[] {
  const fixture = readFixture('shell-cases.json') as { readonly cases: readonly { readonly command: unknown }[] };
  const lines = fixture.cases.flatMap(({ command }) => (typeof command === 'string' ? [command] : []));
  const program = /\b(?:git status|git log|git diff|go build|go test|ls|cat|head|wc|echo|grep)\b/g;
  return lines
    .filter((command) => command.length < 200 && hasNoPath(command))
    .map((command) => command.replace(program, 'say'));
}

function hasNoPath(command: string): boolean {
  return !command.replaceAll('/dev/null', '').includes('/');
}

/** A letter as it is, in quotes of either kind, behind a backslash, and behind an empty pair. */
const quote = (letter: string, way: number): string =>
  [letter, `'${letter}'`, `"${letter}"`, `\\${letter}`, `''${letter}`][way] ?? letter;
