import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { literalLine, simpleCommand } from '../../src/text/literal-line.ts';

describe('simpleCommand', () => {
  it.each([
    ['ls -la src', ['ls', '-la', 'src'], []],
    ['  ls\t-la  ', ['ls', '-la'], []],
    [`r''m "a b"'c d'e`, ['rm', 'a bc de'], []],
    [`echo '$(id)' "it's" ''`, ['echo', '$(id)', "it's", ''], []],
    [`echo 'two\nlines'`, ['echo', 'two\nlines'], []],
    [`ls *.ts "*" a?b`, ['ls', '*.ts', '*', 'a?b'], ['*.ts', 'a?b']],
    ['[ -f x ]', ['[', '-f', 'x', ']'], ['[']],
    ['a#b c=~d x~y', null, null],
    ['ls x~y a#b -o=c', ['ls', 'x~y', 'a#b', '-o=c'], []],
    [`'if' x`, ['if', 'x'], []],
    [`'A=1' x`, ['A=1', 'x'], []],
    ['ls A=1', ['ls', 'A=1'], []],
  ] as const)('reads %j', (line, words, unexpanded) => {
    expect(simpleCommand(line)).toEqual(
      words === null ? { ok: false, construct: 'a tilde (~)' } : { ok: true, words, unexpanded },
    );
  });

  it.each([
    ['', 'no command'],
    ['ls; id', 'the operator ;'],
    ['ls && id', 'the operator &&'],
    ['ls | id', 'the operator |'],
    ['ls &', 'the operator &'],
    ['ls > x', 'the redirection >'],
    ['ls >> x', 'the redirection >>'],
    ['cat <<E', 'the redirection <<'],
    ['(ls)', 'a parenthesis'],
    ['ls\n', 'a line break'],
    ['ls $X', 'an expansion ($)'],
    ['ls "$X"', 'an expansion ($)'],
    ['ls `id`', 'a command substitution (`)'],
    ['r\\m x', 'an unquoted backslash'],
    ['ls "a\\"b"', 'a backslash in double quotes'],
    ['{a,b}', 'an unquoted brace'],
    ['ls ~/x', 'a tilde (~)'],
    ['ls --dir=~/x', 'a tilde (~)'],
    ['A=1 ls', 'a leading assignment'],
    ['A+=1 ls', 'a leading assignment'],
    ['ls # note', 'a comment (#)'],
    ['! ls', 'the reserved word !'],
    ['time ls', 'the reserved word time'],
    ['if true', 'the reserved word if'],
    [`ls 'open`, 'an open quote'],
    ['ls "open', 'an open quote'],
  ])('sends %j to a shell because of %s', (line, construct) => {
    expect(simpleCommand(line)).toEqual({ ok: false, construct });
  });

  it('gives back the words that were single-quoted or double-quoted into a line', () => {
    const word = fc.string().filter((text) => !/["$`\\]/.test(text) || !text.includes("'"));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), fc.constantFrom(' ', '\t', '  '), (words, blank) => {
        const line = words.map((text) => (text.includes("'") ? `"${text}"` : `'${text}'`)).join(blank);
        expect(simpleCommand(line)).toEqual({ ok: true, words, unexpanded: [] });
      }),
    );
  });

  it('never reads a line as one command when an unquoted operator stands in it', () => {
    const plain = fc.stringMatching(/^[a-z -]*$/);
    fc.assert(
      fc.property(plain, fc.constantFrom(...';|&<>()$`\n\\{}'), plain, (left, operator, right) => {
        expect(simpleCommand(`ls ${left}${operator}${right}`).ok).toBe(false);
      }),
    );
  });
});

describe('literalLine', () => {
  it('reads commands joined by && || and | with the redirections that write nothing', () => {
    expect(literalLine(`git status 2>&1|head -3 >/dev/null && ls 'a b'||  wc < /dev/null`)).toEqual({
      ok: true,
      commands: [
        { words: ['git', 'status'], redirects: ['2>&1'] },
        { words: ['head', '-3'], redirects: ['>/dev/null'] },
        { words: ['ls', 'a b'], redirects: [] },
        { words: ['wc'], redirects: ['</dev/null'] },
      ],
      operators: ['|', '&&', '||'],
      unexpanded: [],
    });
  });

  it.each([
    ['ls >/dev/null2', 'the redirection >'],
    ['ls > /dev/nullx', 'the redirection >'],
    ['ls 3>/dev/null', 'the redirection >'],
    ['ls >>/dev/null', 'the redirection >>'],
    ['ls &>/dev/null', 'the operator &'],
    ['ls 2>&3', 'the redirection >'],
    ['ls <x', 'the redirection <'],
    ['ls |& wc', 'the operator |'],
    ['ls &&& wc', 'the operator &&'],
    ['ls && ! wc', 'the reserved word !'],
    ['ls && A=1 wc', 'a leading assignment'],
    ['ls &', 'the operator &'],
    ['ls;', 'the operator ;'],
    ['ls &&', 'an operator at the end'],
    ['| ls', 'the operator | without a command before it'],
    ['ls && # x', 'a comment (#)'],
    ['>/dev/null', 'no command'],
  ])('does not take %j because of %s', (line, construct) => {
    expect(literalLine(line)).toEqual({ ok: false, construct });
  });
});
