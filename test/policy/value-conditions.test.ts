import { describe, expect, it } from 'vitest';
import { judge, load } from './virtual-host.ts';

/**
 * Conditions on values (02 §7): an operator with its operand, and behind each bar a value (`-` for none) with what it
 * comes to: true, false, indeterminate, or three letters for a rule that denies, asks and allows.
 */
const texts = String.raw`
  eq "1000000" | 1000000 t
  eq "1e+21" | 1e+21 t
  eq "1e21" | 1e+21 f
  eq "1e-7" | 1e-07 t
  eq "0.000001" | 1e-06 t
  eq "0" | -0.0 t
  eq "-0" | -0.0 f
  eq "1" | 1.0 t | true f | "1" t | 1 t
  eq "1.0" | 1.0 f
  eq "0.30000000000000004" | 0.30000000000000004 t
  eq "9007199254740993" | 9007199254740993 f
  eq "9007199254740992" | 9007199254740993 t
  eq "100000000000000000000" | 1e+20 t
  eq "true" | true t
  eq "True" | true f
  eq "" | false f | "" t | " " f
  eq - | "" t
  eq "\u00e9" | "e\u0301" f
  eq "\u00df" | "SS" f
  eq "x" | {} i | [["x"]] i | [null] i | ["x"] t | ["x", "x"] t | ["x", "y"] ttf | ["y", "z"] f | ["x", {}] tti
  eq "x" | ["y", {}] iif | ["y", null] iif | ["y", ["x"]] iif | [] f | null f | - f
  eq "null" | null f
  eq "5e-324" | 5e-324 t
  eq "-1.5" | -1.5 t
  eq "x\n" | "x" f
  eq "x\u0000" | "x\u0000" t
  neq "x" | "y" t | "x" f | " x" t | null f | [] f | {} i | ["x", "y"] ttf | ["y", "z"] t | ["x"] f | ["y", {}] tti
  neq "x" | ["x", null] iif | [[]] i | - f
  neq "true" | true f
  neq "1.0" | 1 t
  neq "1" | 1 f
  neq "" | "" f
  neq - | "a" t
  in "[\"a\",1,true,1e21,\"\",1.50]" | "a" t | "A" f | "1" t | 1 t | "true" t | true t | false f | "1e+21" t | 1e+21 t
  in "[\"a\",1,true,1e21,\"\",1.50]" | "" t | " " f | "1.5" t | "1.50" f | 1.5 t | {} i | null f | [] f | ["a", 1] t
  in "[\"a\",1,true,1e21,\"\",1.50]" | ["a", "z"] ttf | ["z", {}] iif | ["a", []] tti | "[" f | - f
  not_in "[\"a\",1,true,1e21,\"\",1.50]" | "a" f | "z" t | 1 f | "1" f | null f | [] f | {} i | ["a", "z"] ttf
  not_in "[\"a\",1,true,1e21,\"\",1.50]" | ["y", "z"] t | ["a"] f | ["z", null] tti | false t | - f
  in " [ \"a\" ] " | "a" t
  in "[\"\\u0061\"]" | "a" t
  prefix "ab" | "abc" t | "ab" t | "a" f | "Ab" f | "" f | 1 i
  prefix "t" | true i
  prefix " " | "  x" t
  prefix "\u00e9" | "e\u0301" f
  prefix "a." | "ab" f
  suffix ".md" | "x.md" t | ".md" t | "x.MD" f | "x.md\n" f
  suffix "5" | 15 i
  contains "b" | "abc" t | "ac" f | ["a", "b"] ttf | ["ab", "b"] t | ["b", 1] tti | ["a", 1] iif | {} i | null f
  contains "b" | [] f
  contains "*" | "a*b" t | "ab" f
  contains "\u0000" | "a\u0000" t
  contains "\ud83d\ude00" | "x\ud83d\ude00" t
  regex "a|b" | "a" t | "b" t | "ab" f | "xb" f
  regex "^a$" | "a" t
  regex "(?m)^a$" | "a\nb" f
  regex "a" | "a\n" f | "b" f | 1 i | ["a", "b"] ttf | ["a", 1] tti | {} i | null f
  regex "a$" | "a\n" f
  regex "." | "\n" t | "\ud83d\ude00" t
  regex ".*" | "" t
  regex "a.b" | "a\nb" t
  regex "\\pL+" | "\u00e9\u00df" t
  regex "\\d" | "\u0663" f
  regex "\\d+" | "123" t
  regex "[[:alpha:]]+" | "abc" t
  regex "\\Qa.b\\E" | "a.b" t | "axb" f
  regex "a{2,3}" | "aa" t | "aaaa" f
  regex "(?i)abc" | "ABC" t
  regex "abc" | "ABC" f
  regex "(?P<n>a)" | "a" t
  regex "(?s:.)" | "\n" t
  regex "(?-s:.)" | "\n" f
  regex "(?U)a+" | "aaa" t
  regex "true" | true i
  regex "\\x{1F600}" | "\ud83d\ude00" t
  regex "(?:a)b" | "ab" t
  regex "[^a]" | "\n" t
  regex "a??" | "a" t
  regex "\\." | "." t
  regex "x*" | "" t
  regex "\\bfoo\\b" | "foo" t
  regex "a*?" | "aaa" t
  lt "5" | 4.999 t | "4" t | "5" f | true i | false i | "" i | "04" i | "+4" i | ".4" i | "4." i | "0x4" i | " 4" i
  lt "5" | "4 " i | "4e0" t | "-1E2" t | "NaN" i | "Infinity" i | "1_0" i
  gt "5" | "1e400" t | null f | [] f | {} i | [6, 7] t | [6, 4] ttf | [6, "x"] tti | [4, "x"] iif | [4, null] iif
  gt "5" | [[6]] i | "\u0666" i | "\uff16" i | - f
  gte "-0" | 0 t
  lte "0" | -0.0 t
  gt "1e3" | 1000 f
  gte "1e3" | "1000" t
  lte "0.1" | 0.1 t
  gte "9007199254740993" | 9007199254740992 t
  lt "-1.5e-3" | "-0.002" t
  exists "" | "x" t
  exists - | "x" t | - f
  exists "true" | "x" t | "" t | false t | 0 t | [] t | [null] t | {} t | null f | [[], {}] t | - f
  exists "false" | "x" f | null t | [] f | {} f | - t
`;

const paths = String.raw`
  glob "*.go" | "a.go" t | ".go" t | ".hidden.go" t
  glob "*" | "a" t | ".a" t | "a/b" f | "." f
  glob "?" | "a" t | "\u00e9" t | "e\u0301" t | "\ud83d\ude00" t | "ab" f | "" f
  glob "a?c" | "a/c" f
  glob "a*c" | "a/c" f | "ac" t
  glob "[abc]" | "b" t | "d" f
  glob "[a-z]" | "q" t | "Q" f
  glob "[!a]" | "b" t | "a" f
  glob "[^a]" | "b" t | "a" f
  glob "[!a]x" | "/x" f
  glob "a[!b]c" | "a/c" f
  glob "[a-]" | "-" t
  glob "[-a]" | "-" t
  glob "[*]" | "*" t | "a" f
  glob "[?]" | "?" t
  glob "[.]x" | ".x" t
  glob "[a-c]*" | "bz" t
  glob "[\u00e9]" | "e\u0301" t
  glob "**" | "a" t | "/etc/x" t | "." t
  glob "src/**" | "src" t | "src/" t | "src/.x/y" t | "srcs" f | "xsrc/a" f | 5 i | true i | {} i | "a\u0000b" i
  glob "src/**" | null f | [] f | ["src/a", "src/b"] t | ["src/a", "x"] ttf | ["x", "y"] f | ["src/a", 5] tti
  glob "src/**" | ["x", 5] iif | ["src/a\u0000"] i | [["src/a"]] i
  glob "**/a" | "a" t | "x/y/a" t | "/a" t | "x/ab" f
  glob "**/a/**" | "a" t | "q/a/z" t | "q/ba/z" f
  glob "a/**/b" | "a/b" t | "a/x/y/b" t | "ab" f | "a/xb" f
  glob "a/**/**/b" | "a/b" t
  glob "/**" | "/x/y" t | "/" t
  glob "/**/x" | "/x" t
  glob "**.go" | "a/b/c.go" t | "/x.go" t | "a.goo" f
  glob "foo**" | "foo/bar/baz" t | "foobar" t | "foo" t | "xfoo" f
  glob "a**b" | "a/x/b" t | "ab" t
  glob "src/**.ts" | "src/a/b.ts" t | "src/.ts" t | "srca.ts" f
  glob "src/x**" | "src/x/y" t | "src/y" f
  glob "**x**" | "a/bxc/d" t
  glob "**a" | "b/ca" t
  glob "{a,b}" | "a" t | "b" t | "c" f | "{a,b}" f
  glob "{a,b/c}" | "b/c" t
  glob "x{,y}" | "x" t | "xy" t
  glob "x{a,{b,c}d}" | "xbd" t | "xcd" t | "xb" f
  glob "{x}" | "x" t | "{x}" f
  glob "{a,b}/**" | "b/c/d" t
  glob "**/{.ssh,.aws}/**" | "/root/.aws" t
  glob "**/{.env,.env.*}" | ".env.local" t
  glob "{**/a,b}" | "q/a" t | "b" t
  glob "{/etc,src}/x" | "/etc/x" t | "src/x" t
  glob "{~,src}/x" | "/home/u/x" t
  glob "a{b,c}{d,e}" | "ace" t | "abd" t | "ad" f
  glob "\\*" | "*" t | "a" f
  glob "\\?" | "?" t
  glob "a\\{b" | "a{b" t
  glob "\\[a]" | "[a]" t
  glob "\\a" | "a" t
  glob "[\\]]" | "]" t
  glob "{a\\,b,c}" | "a,b" t | "a" f
  glob "/etc/*" | "/etc/passwd" t | "/etc" f
  glob "/etc/**" | "/etc" t | "../../etc/passwd" t | "/etc/../home" f | "/./etc//x/" t
  glob "/etc/../etc/x" | "/etc/x" t
  glob "/etc//x" | "/etc/x" t
  glob "/etc/./x" | "/etc/x" t
  glob "/etc/x/" | "/etc/x" t
  glob "~/x" | "/home/u/x" t | "~/x" t
  glob "~/**" | "/home/u" t | "/home/user2/x" f
  glob "x" | "~/../../srv/p/x" t
  glob "./~x" | "~x" t | "/srv/p/~x" t
  glob "\\~x" | "~x" t | "~/x" f
  glob "~/" | "/home/u" t | "~/" t | "/srv/p/~" f
  glob "~$*" | "~$a" t | "/home/u/a" f
  glob "a/~/b" | "a/~/b" t
  glob "src/*" | "src" f | "src/a/b" f
  glob "./src" | "src" t
  glob "./src/../lib" | "lib" t
  glob "../x" | "/srv/x" t
  glob "../**" | "/srv/q" t
  glob "." | "." t | "" t
  glob "./**" | "/srv/p" t | "/srv/pq" f
  glob "src" | "./src/" t | "src/." t | "a/../src" t | "/srv/p/src" t | "/x/../srv/p/src" t | "/src" f
  glob ".*" | ".x" t | "x" f
  glob "*/*" | "a/b" t | "a" f | "a/b/c" f
  glob "\u00e9" | "e\u0301" t
  glob "e\u0301" | "\u00e9" t
  glob "A" | "a" f
  glob "a" | "A" f
  glob "a b" | "a b" t
  glob "*.{ts,tsx}" | "x.tsx" t | "x.js" f | "d/x.ts" f
  glob "**/*.{ts,tsx}" | "d/x.ts" t
  glob "!a" | "!a" t | "b" f
  glob "#a" | "#a" t
  glob "(a|b)" | "a" f | "(a|b)" t
  glob "+(a)" | "aa" f
  glob "@(a)" | "@(a)" t
  glob "a,b" | "a,b" t
  glob "a]b" | "a]b" t
  glob "./$HOME/x" | "$HOME/x" t | "/home/u/x" f
  glob "%41" | "A" f
  glob "/" | "/" t | "//" t | ".." f | "../../.." t
  glob "***" | "x/y" t
  glob "a***b" | "a/b" t
  glob "src/**" | "C:/../src/a" t | "C:/src/a" f
  path_within "src" | 5 i | true i | {} i | "a\u0000b" i | null f | [] f | ["src/a", "src/b"] t | ["src/a", "x"] ttf
  path_within "src" | ["x", "y"] f | ["src/a", 5] tti | ["x", 5] iif | ["src/a\u0000"] i | [["src/a"]] i | "src" t
  path_within "src" | "src/a/b" t | "srcx" f | "src/../x" f
  path_within "src" | "C:/../src/a" t
  path_within "src/" | "src/a" t
  path_within "./src" | "src/a" t
  path_within "." | "a" t | ".." f | "" t
  path_within ".." | "/srv/q" t
  path_within "/" | "/anything" t
  path_within "/etc" | "/etc" t | "/etcx" f
  path_within "~/" | "/home/u/x" t | "/home/u" t
  path_within "~/n" | "~/n/x" t | "~/nx" f
  path_within "src/../lib" | "lib/x" t
  path_within "src/*" | "src/a" f | "src/*/a" t
  path_within "SRC" | "src/a" f
  path_within "\u00e9" | "e\u0301/x" t
  path_within "/srv/p" | "a" t
  path_within "a/b" | "a" f
  path_within "/etc/" | "/etc/x" t
  path_within "//etc" | "/etc/x" t
`;

const hosts = String.raw`
  host "example.com" | "http://example.com" t | "https://example.com/x" t | "http://EXAMPLE.com" t
  host "example.com" | "http://example.com." t | "http://a.b.example.com" t | "http://xexample.com" f
  host "example.com" | "http://example.com.evil.net" f | "http://example.org" f | "http://user:pw@example.com:8080/" t
  host "example.com" | "http://example.com@evil.net" f | "http://evil.net/example.com" f
  host "example.com" | "http://evil.net?example.com" f | "http://evil.net#@example.com" f | "example.com" ttf
  host "example.com" | "example.com/x" ttf | "www.example.com:80" ttf | "evil.net" f | "http://ex%61mple.com" t
  host "example.com" | "http://exa\u00admple.com" t | "http://example\u3002com" t | "http://\uff45xample.com" t
  host "example.com" | "ftp://example.com/x" t | "http:\\\\example.com" ttf | "http:/example.com" ttf
  host "example.com" | "http://example.com:99999/" i | "http://" i | "" i | "http://exa mple.com" i | "   " i | 5 i
  host "example.com" | true i | {} i | null f | [] f | ["http://example.com", "http://a.example.com"] t
  host "example.com" | ["http://example.com", "http://evil.net"] ttf | ["http://evil.net", 5] iif
  host "example.com" | ["http://example.com", 5] tti | "http://[::1" i | "http://example.com\\@evil.net" t
  host "example.com" | "HTTP://EXAMPLE.COM" t | "http://example.com\t" t | " http://example.com " t
  host "example.com" | "http://example.com.." f
  host "*.example.com" | "http://example.com" f | "http://a.example.com" t | "http://a.b.example.com" t
  host "*.example.com" | "http://aexample.com" f
  host "127.0.0.1" | "http://127.1" t | "http://2130706433" t | "http://0x7f.1" t | "http://0177.0.0.1" t
  host "127.0.0.1" | "http://127.0.0.1." t | "http://[::ffff:127.0.0.1]" t | "http://[::ffff:7f00:1]/x" t
  host "127.0.0.1" | "http://127.0.0.2" f | "http://x.127.0.0.1" i
  host "::1" | "http://[::1]" t | "http://[0:0:0:0:0:0:0:1]:80" t | "http://[::2]" f
  host "fd00:ec2::254" | "http://[fd00:0ec2:0:0::254]" t
  host "FD00:EC2::254" | "http://[fd00:ec2::254]" t
  host "[::1]" | "http://[::1]/" t
  host "127.1" | "http://127.0.0.1" t
  host "::ffff:10.0.0.1" | "http://10.0.0.1" t
  host "b\u00fccher.de" | "http://xn--bcher-kva.de" t
  host "xn--bcher-kva.de" | "http://b\u00fccher.de" t
  host "B\u00dcCHER.de" | "http://www.b\u00fccher.de" t
  host "Example.COM" | "http://example.com" t
  host "example.com." | "http://example.com" t
  host "a.com,b.com" | "http://b.com" t
  host "com" | "http://example.com" t
  host "localhost" | "http://localhost" t | "http://foo.localhost" t | "http://LOCALHOST." t | "localhost:8080" ttf
  host "10.0.0.1" | "10.0.0.1" ttf
  host "0.0.0.0" | "http://0" t | "http://0/" t
  host "169.254.169.254" | "http://[::ffff:a9fe:a9fe]" t | "http://0xa9fea9fe/latest" t
  host "1.2.3.4" | "http://1.2.3" f
  host "1.2.0.3" | "http://1.2.3" t
`;

type Row = { readonly op: string; readonly operand: string | null; readonly value: string; readonly results: string };

const rowsOf = (table: string): readonly Row[] =>
  table
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [head = '', ...cells] = line.trim().split(' | ');
      const op = head.slice(0, head.indexOf(' '));
      const operand = head.slice(op.length + 1);
      return cells.map((cell) => {
        const at = cell.lastIndexOf(' ');
        const results = cell.slice(at + 1).padEnd(3, cell.slice(-1));
        return { op, operand: operand === '-' ? null : JSON.parse(operand), value: cell.slice(0, at), results };
      });
    });

const verdictOf = async (row: Row, action: string): Promise<string> => {
  const { op, operand, value } = row;
  const condition = { key: 'k', op, ...(operand === null ? {} : { value: operand }) };
  const rules = [{ tools: 't', action, when: [condition] }];
  const policy = await load({ default_action: action === 'allow' ? 'deny' : 'allow', rules });
  const args = value === '-' ? {} : { k: JSON.parse(value) };
  const record = judge(policy, { tools: 't', tool: 't', args });
  return `${record.action} ${record.reason}`;
};

const expected: Readonly<Record<string, readonly [string, string, string]>> = {
  t: ['deny matched_rule', 'approve matched_rule', 'allow matched_rule'],
  f: ['allow default_action', 'allow default_action', 'deny default_action'],
  i: ['deny matched_rule', 'approve floor', 'deny default_action'],
};

describe.each([
  ['a value', texts],
  ['a path', paths],
  ['a URL', hosts],
])('a condition on %s', (_what, table) => {
  it.each(rowsOf(table).map((row) => [row.op, row.operand, row.value, row] as const))(
    '%s %j on %s',
    async (_op, _operand, _value, row) => {
      const verdicts = await Promise.all(['deny', 'approve', 'allow'].map((action) => verdictOf(row, action)));
      expect(verdicts).toEqual([0, 1, 2].map((at) => expected[row.results.charAt(at)]?.[at]));
    },
  );
});
