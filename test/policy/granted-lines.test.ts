import { describe, expect, it } from 'vitest';
import { judge, load, plainHost } from './virtual-host.ts';

/**
 * Calls that an allowlist grants (+) and that it does not (-): the entries, and behind each bar a command, or the
 * arguments of a call (02 §9.1, §9.2, §9.4, §9.5).
 */
const table = String.raw`
  + ls,cat,echo,git status,mytool,grep,wc ¦ "ls *.go" ¦ {"command": "ls *.go", "shell": false}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls ?", "shell": null} ¦ "ls [a]"
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls && cat x", "shell": false} ¦ "ls \"*\" && cat x"
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls", "args": []} ¦ {"command": "ls", "args": ""}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls", "args": null, "shell": null}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls", "args": [], "shell": false}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls", "cwd": "src"} ¦ {"command": "ls", "cwd": "/srv/p"}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls", "cwd": null} ¦ {"command": "echo", "args": ["a b"]}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": ["$HOME"]} ¦ {"command": "echo", "args": ["*"]}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": [""]} ¦ {"command": "echo", "args": ["\""]}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": ["'"]} ¦ {"command": "echo", "args": ["~/x"]}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": ["a;b", "c|d"]}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": ["(x)"]}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": ["$ (x)"]}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": ["a\tb"]} ¦ {"command": "echo", "args": ["#x"]}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": ["{a,b}"]}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": ["x=y"]} ¦ {"command": "echo", "args": ["\\"]}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": "$HOME ~ *.c"}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": "\"a b\" c"}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": "'a;b'"} ¦ {"command": "echo", "args": "a\\;b"}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": "\"a;b|c\""}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": "\"a\\\"b\""}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": "\"a\\qb\""}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": "{a,b} x=y #c"}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "cat", "args": ["$HOME"]} ¦ {"command": "cat", "args": ["~/x"]}
  + ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "/bin/ls", "args": ["-l"]}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls *.go", "shell": true} ¦ "ls *.go && cat x"
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls ", "args": ["-l"]} ¦ {"command": "ls\n", "args": ["-l"]}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls\t", "args": []} ¦ {"command": "git status", "args": []}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls", "args": [], "shell": true}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls", "args": "", "shell": true} ¦ {"command": "ls", "args": {}}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls", "args": 5} ¦ {"command": "ls", "args": true}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls", "args": ["-l", null]}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls", "args": [["-l"]]} ¦ {"command": "ls", "shell": 0}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls", "shell": ""} ¦ {"command": "ls", "shell": []}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls", "shell": {}} ¦ {} ¦ {"args": ["ls"]} ¦ {"command": null}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": ["ls"]} ¦ "   " ¦ "\n" ¦ {"command": "", "args": ["ls"]}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "ls", "cwd": ".."} ¦ {"command": "echo", "args": [";;"]}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": ["<>"]} ¦ {"command": "echo", "args": ["&"]}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": ["a\rb"]} ¦ {"command": "echo", "args": ["a\u0060b"]}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": ["a<(b"]}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": [">(x)"]}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": ["a\u00a0b"]}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": ["a\u0000b"]}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": "a;b"} ¦ {"command": "echo", "args": "a&b"}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": "a>b"} ¦ {"command": "echo", "args": "(a)"}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": "a\nb"} ¦ {"command": "echo", "args": "'$(id)'"}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": "'\u0060'"} ¦ {"command": "echo", "args": "\"a"}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "echo", "args": "\u3000"} ¦ {"command": "echo", "args": "a\rb"}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "cat", "args": "~/.ssh/id_rsa"}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "./ls", "args": []} ¦ {"command": "l*", "args": []} ¦ "l*"
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "'ls'", "args": []} ¦ {"command": "ls;id", "args": []}
  - ls,cat,echo,git status,mytool,grep,wc ¦ {"command": "$X", "args": []} ¦ {"command": "A=1", "args": []}
  + ls,cat,echo,git status,true ¦ "ls && ls" ¦ "ls&&ls" ¦ "ls||ls|cat" ¦ "ls|cat" ¦ "ls | cat | cat | cat"
  + ls,cat,echo,git status,true ¦ "ls && ls && ls || ls" ¦ " ls " ¦ "\tls\t-l\t" ¦ "echo a#b" ¦ "echo \"#a\""
  + ls,cat,echo,git status,true ¦ "echo '#'" ¦ "echo 'a b'" ¦ "echo \"a b\"" ¦ "echo 'a'\"b\"c" ¦ "echo 'it'\"'\"'s'"
  + ls,cat,echo,git status,true ¦ "echo '$X \u0060id\u0060 \\ \"'" ¦ "echo a~" ¦ "echo a~b" ¦ "echo x=\"~\"" ¦ "echo '~'"
  + ls,cat,echo,git status,true ¦ "echo x=a~" ¦ "echo \"{a,b}\"" ¦ "echo '{'" ¦ "echo a=b" ¦ "echo a!b" ¦ "echo !"
  + ls,cat,echo,git status,true ¦ "echo %1" ¦ "echo ^a" ¦ "echo a,b" ¦ "echo @x" ¦ "echo a+b" ¦ "echo a:b" ¦ "echo a]"
  + ls,cat,echo,git status,true ¦ "echo \"\" x" ¦ "echo ''" ¦ "ls && echo \"*\"" ¦ "ls && echo '[a]?'" ¦ "ls && echo a]"
  + ls,cat,echo,git status,true ¦ "echo *" ¦ "echo \u00e9" ¦ "echo 'a\nb'" ¦ "echo \"a\nb\"" ¦ "ls && echo 'a\nb'"
  + ls,cat,echo,git status,true ¦ "\"ls\"" ¦ "l's'" ¦ "'git' \"status\"" ¦ "git\"\" status" ¦ "git st'atus'"
  + ls,cat,echo,git status,true ¦ "ls >/dev/null" ¦ "ls > /dev/null" ¦ "ls >\t/dev/null" ¦ "ls 1>/dev/null"
  + ls,cat,echo,git status,true ¦ "ls 2>/dev/null" ¦ "ls 2> /dev/null" ¦ "cat </dev/null" ¦ "cat < /dev/null"
  + ls,cat,echo,git status,true ¦ "ls 2>&1" ¦ "ls 1>&2" ¦ "ls >/dev/null 2>&1" ¦ "ls 2>&1 | cat"
  + ls,cat,echo,git status,true ¦ "ls 2>/dev/null && ls" ¦ "ls 2 >/dev/null" ¦ "ls a1>/dev/null" ¦ "ls X=y"
  + ls,cat,echo,git status,true ¦ "cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat|cat"
  + ls,cat,echo,git status,true ¦ "ls ." ¦ "ls ./" ¦ "ls ../p" ¦ "ls ../p/src" ¦ "cat /srv/p/x" ¦ "cat //srv/p/x"
  + ls,cat,echo,git status,true ¦ "cat .envrc" ¦ "cat key.keys" ¦ "cat secrets" ¦ "cat .git/config" ¦ "cat .ENV"
  + ls,cat,echo,git status,true ¦ "cat .reins/hitl-policy.json"
  - ls,cat,echo,git status,true ¦ "ls;" ¦ "ls ; ls" ¦ "ls\n" ¦ "\nls" ¦ "ls\nls" ¦ "ls &&\nls" ¦ "ls |\ncat" ¦ "ls &"
  - ls,cat,echo,git status,true ¦ "ls & ls" ¦ "ls |& cat" ¦ "! ls" ¦ "{ ls; }" ¦ "(ls)" ¦ "ls # x" ¦ "ls #" ¦ "#ls"
  - ls,cat,echo,git status,true ¦ "time ls" ¦ "coproc ls" ¦ "if ls; then ls; fi" ¦ "while ls; do ls; done"
  - ls,cat,echo,git status,true ¦ "f() { ls; }" ¦ "function f { ls; }" ¦ "select x in a; do ls; done"
  - ls,cat,echo,git status,true ¦ "case a in a) ls;; esac" ¦ "[[ a ]]" ¦ "ls &&" ¦ "&& ls" ¦ "| ls" ¦ "ls | | cat"
  - ls,cat,echo,git status,true ¦ "ls &&& ls" ¦ "ls ||| ls" ¦ "echo \"a$b\"" ¦ "echo \"a\u0060b\u0060\"" ¦ "echo \"a\\b\""
  - ls,cat,echo,git status,true ¦ "echo \"a\\\"b\"" ¦ "echo a\\ b" ¦ "echo \\a" ¦ "\\ls" ¦ "echo $X" ¦ "echo $\u007bX}"
  - ls,cat,echo,git status,true ¦ "echo $1" ¦ "echo $((1+1))" ¦ "echo $'a'" ¦ "echo $\"a\"" ¦ "echo ~" ¦ "echo ~/x"
  - ls,cat,echo,git status,true ¦ "echo ~root" ¦ "echo x=~" ¦ "echo x=~/y" ¦ "echo a:~" ¦ "echo {a" ¦ "echo a}"
  - ls,cat,echo,git status,true ¦ "echo {}" ¦ "echo {a,b}" ¦ "ls && echo *" ¦ "ls && echo a?" ¦ "ls && echo [a]"
  - ls,cat,echo,git status,true ¦ "'git status'" ¦ "\"ls \"" ¦ "ls >>/dev/null" ¦ "ls &>/dev/null" ¦ "ls >&/dev/null"
  - ls,cat,echo,git status,true ¦ "ls >|/dev/null" ¦ "ls 3>/dev/null" ¦ "ls 2>&-" ¦ "ls >&2" ¦ "cat 0</dev/null"
  - ls,cat,echo,git status,true ¦ "ls 2>/dev/nullx" ¦ "ls >/dev/null/x" ¦ "ls <>/dev/null" ¦ "ls 2>&2" ¦ "ls 1>&1"
  - ls,cat,echo,git status,true ¦ "ls 12>&1" ¦ "ls > x" ¦ "ls >/dev/../dev/null" ¦ "ls >/dev/stdout" ¦ "ls >/dev/stderr"
  - ls,cat,echo,git status,true ¦ "cat < x" ¦ "cat <<E\nE" ¦ "cat <<<x" ¦ "cat <<-E\nE" ¦ "ls {x}>/dev/null"
  - ls,cat,echo,git status,true ¦ ">/dev/null" ¦ "X=y ls" ¦ "X=y" ¦ "X=y && ls" ¦ "X+=y ls" ¦ "X[0]=y ls" ¦ "'X=y' ls"
  - ls,cat,echo,git status,true ¦ "ls .." ¦ "ls ../pq" ¦ "ls src/../.." ¦ "cat /srv/px" ¦ "cat .env"
  - ls,cat,echo,git status,true ¦ "cat a/.env.local" ¦ "cat x.pem" ¦ "cat id_rsa.pub" ¦ "cat secrets.yaml"
  - ls,cat,echo,git status,true ¦ "cat .npmrc" ¦ "ls .aws" ¦ "ls .aws/x"
  + docker ps,docker ¦ "docker ps"
  + docker ¦ "docker ps"
  - docker ¦ "docker ps run"
  + pnpm ¦ "pnpm list"
  + yarn ¦ "yarn list"
  + python3 -m pytest ¦ "python3 -m pytest" ¦ "python3 -m pytest -q" ¦ "python3 -m pytest tests"
  - python3 -m pytest ¦ "python3 -m pytest -p evil"
  + python3 -m mymod ¦ "python3 -m mymod x"
  - python3 -m mymod ¦ "python3 -m mymod -x"
  - python3 -m ¦ "python3 -m pytest"
  - python3 -c ¦ "python3 -c"
  - python3 ¦ "python3 --version" ¦ "python3 x.py"
  + node --version ¦ "node --version"
  - node --version ¦ "node --version x"
  - node -e ¦ "node -e" ¦ "node -e 1"
  + node x.js ¦ "node x.js" ¦ "node x.js a"
  - node x.js ¦ "node x.js -a" ¦ "node --inspect x.js" ¦ "node y.js"
  - sh -c ¦ "sh -c ls"
  + sh x.sh ¦ "sh x.sh" ¦ "sh x.sh a"
  - bash ¦ "bash"
  + perl x.pl ¦ "perl x.pl y"
  - deno run ¦ "deno run x.ts"
  + deno run x.ts ¦ "deno run x.ts"
  - bun x ¦ "bun x y"
  - bun run ¦ "bun run"
  - bun exec ¦ "bun exec ls"
  - awk ¦ "awk 1 x"
  - perl ¦ "perl -e 1"
  - ruby ¦ "ruby x.rb"
  - php ¦ "php"
  - lua ¦ "lua"
  - tclsh ¦ "tclsh"
  - pwsh ¦ "pwsh"
  - /usr/bin/python3 ¦ "/usr/bin/python3 x"
  + /usr/bin/python3 x.py ¦ "/usr/bin/python3 x.py"
  + python3 --version ¦ "python3 --version"
  - python3 --version ¦ "python3 --version -c 1"
  + python --version ¦ "python --version"
  + ls ¦ "/bin/ls" ¦ "/sbin/ls" ¦ "/usr/bin/ls" ¦ "/usr/sbin/ls" ¦ "/usr/local/bin/ls" ¦ "/usr/local/sbin/ls"
  + ls ¦ "/opt/homebrew/bin/ls"
  - ls ¦ "/opt/bin/ls" ¦ "/opt/homebrew/sbin/ls" ¦ "/usr/bin//ls" ¦ "/usr/bin/../bin/ls" ¦ "/usr/bin/sub/ls"
  - ls ¦ "/usr/bin/ls/" ¦ "usr/bin/ls" ¦ "./ls" ¦ "../../usr/bin/ls" ¦ "/ls" ¦ "LS" ¦ "ls.exe"
  + /usr/bin/ls ¦ "/usr/bin/ls -l"
  - /usr/bin/ls ¦ "ls" ¦ "/bin/ls"
  - /opt/x/mytool ¦ "/opt/x/mytool"
  - nosuch ¦ "nosuch"
  - cd ¦ "cd /srv/p"
  - export,ls ¦ "export X=1"
  - alias ¦ "alias"
  - . ¦ ". ./x"
  - LS ¦ "ls"
  + git status ¦ "git  status"
  - git status ¦ "git" ¦ "git statuss"
  + git status -s ¦ "git status -s"
  - git status -s ¦ "git status" ¦ "git status -b -s"
  + ls,cat x ¦ "ls && cat x"
  - ls,cat x ¦ "ls && cat y"
  + ls -l ¦ "ls '-l'"
  - ls -l ¦ "ls"
  + ,, ls , ¦ "ls"
  + mytool ¦ "/usr/bin/mytool a -z"
`;

const programs =
  'awk bash bun cat deno docker echo git grep ls mytool node perl php pnpm python python3 pytest ruby sh sort true uniq wc yarn'.split(
    ' ',
  );

type Row = readonly [verdict: string, entries: string, call: string];

const rows: readonly Row[] = table
  .trim()
  .split('\n')
  .flatMap((line) => {
    const [head = '', ...calls] = line.trim().split(' ¦ ');
    return calls.map((call): Row => [head.startsWith('+') ? 'allow' : 'approve', head.slice(2), call]);
  });

describe('an allowlist', () => {
  it.each(rows)('%s, with %s: %s', async (verdict, entries, call) => {
    const given: unknown = JSON.parse(call);
    const args = typeof given === 'string' ? { command: given } : (given as Readonly<Record<string, unknown>>);
    const when = [{ op: 'command_prefix_allowlist', value: entries }];
    const policy = await load({ rules: [{ tools: 'local_shell', action: 'allow', when }] });
    const record = judge(policy, { tools: 'local_shell', tool: 'local_shell', args }, { ...plainHost, programs });
    expect([record.action, record.detail]).toEqual([verdict, expect.anything()]);
  });
});

/** Characters that no command holds, at the ends of each range, and their neighbours (02 §9.2). */
const forbidden = [
  ...[0x00, 0x01, 0x08, 0x0b, 0x0d, 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0x9f, 0xa0, 0x1680, 0x2000, 0x200b, 0x200f, 0x2028],
  ...[0x202e, 0x202f, 0x205f, 0x2066, 0x206f, 0x3000, 0xd800, 0xdfff, 0xfeff, 0xe0000, 0xe007f],
];
const ordinary = [
  ...[0x09, 0xa1, 0xad, 0x167f, 0x1681, 0x1fff, 0x2010, 0x2027, 0x2030, 0x205e, 0x2070, 0x3001, 0xfefe, 0xff00],
  ...[0xe0080, 0x1f600],
];
const forms = (text: string) => [
  { command: `echo 'a${text}b'` },
  { command: 'echo', args: [`a${text}b`] },
  { command: 'echo', args: `'a${text}b'` },
];
const verdicts = async (text: string) => {
  const when = [{ op: 'command_prefix_allowlist', value: 'echo' }];
  const rules = [{ tools: 'local_shell', action: 'allow', when }];
  const [listed, open] = [await load({ rules }), await load({ default_action: 'allow' })];
  const calls = forms(text).map((args) => ({ tools: 'local_shell', tool: 'local_shell', args }));
  return calls.flatMap((call) => [listed, open].map((policy) => judge(policy, call).action));
};

describe('a character of a command', () => {
  it.each(forbidden.map((code) => [code.toString(16), code] as const))(
    'makes it unreadable: U+%s',
    async (_hex, code) => {
      expect(new Set(await verdicts(String.fromCodePoint(code)))).toEqual(new Set(['approve']));
    },
  );

  it.each(ordinary.map((code) => [code.toString(16), code] as const))(
    'is one like any other: U+%s',
    async (_hex, code) => {
      expect(new Set(await verdicts(String.fromCodePoint(code)))).toEqual(new Set(['allow']));
    },
  );
});

describe('a line of 64 commands', () => {
  const open = () => load({ default_action: 'allow' });
  const call = (command: string) => ({ tools: 'local_shell', tool: 'local_shell', args: { command } });

  it.each([' && ', '; ', ' | ', '\n'])('joined by %j is read, and one of 65 is not', async (joined) => {
    const of = (count: number) => call(Array.from({ length: count }, () => 'cat').join(joined));
    expect(judge(await open(), of(64)).action).toBe('allow');
    expect(judge(await open(), of(65))).toMatchObject({ action: 'approve', reason: 'floor' });
  });

  it('is read as well where a shell takes what the others may write', async () => {
    expect(judge(await open(), call(`${'cat | '.repeat(63)}sh`)).action).toBe('allow');
  });
});
