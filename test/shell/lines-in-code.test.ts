import { describe, expect, it } from 'vitest';
import { judge, load, plainHost } from '../policy/virtual-host.ts';

const denying = await load({
  default_action: 'allow',
  rules: [
    { action: 'deny', when: [{ op: 'command_blacklist', value: 'evil' }] },
    { action: 'deny', when: [{ op: 'command_prefix_allowlist', value: 'git push' }] },
    { action: 'deny', when: [{ op: 'command_path', value: '**/.env' }] },
  ],
});
const verdict = (command: string): string =>
  judge(denying, { tools: 'local_shell', tool: 'local_shell', args: { command } }, plainHost).action;

describe('a denied command in the code of a program', () => {
  it.each([
    "sed 's/a/evil x/e' f",
    `awk '/\\"/ {system("evil x")}' f`,
    "sed -n 's/.*/evil x/ep' f",
    "sed 's|^|evil |2ge' f",
    "sed -e '/[/]/s/a/\\x65vil x/e' f",
    "sed --expression='$!{1e evil x' -e '}' f",
    "sed '/a/,/b/{s/x/y/;1e evil' f",
    'awk \'BEGIN { "evil x" | getline l }\' f',
    `awk 'BEGIN{FS="|"} {print $1 | "evil"}' f`,
    `awk 'BEGIN{system("a=evil\\n$a x")}'`,
    `awk 'BEGIN{system("\\145vil x")}'`,
    `python3 -c 'import os; os.system("\\x65vil x")'`,
    `perl -e 'system("evil", "x")'`,
    `perl -e 'system qw(evil x)'`,
    "perl -e 'print `evil x`'",
    `ruby -e 'exec "evil x"'`,
    "ruby -e 'puts %x(evil x)'",
    `node -e 'require("child_process").execSync("evil x")'`,
    `node -p "require('child_process').spawnSync('git', ['push'])"`,
    `node --eval='require("child_process").exec(\`evil x\`)'`,
    `python3 -c 'import subprocess; subprocess.run(["git", "push", "-f"])'`,
    `python3.12 -c "import os; os.system('evil x')"`,
    `python3 -c 'import subprocess as s; s.check_output(["sh", "-c", "evil x"])'`,
    `php -r 'shell_exec("evil x");'`,
    `lua -e 'os.execute("evil x")'`,
    "python3 - <<'E'\nimport os\nos.system('evil x')\nE",
    `echo 'require("child_process").execSync("git push")' | node`,
    `psql -c '\\! evil x'`,
    `psql --command="copy t to program 'evil x'"`,
    "psql d <<'E'\nselect 1;\n\\! evil x\nE",
    "mysql -e 'system evil x'",
    "sqlite3 db '.sh evil x'",
    "echo '.system evil x' | sqlite3 db",
    "gdb -batch -ex 'shell evil x'",
    `emacs -batch --eval '(shell-command "evil x")'`,
    `emacsclient -e '(call-process "evil" nil nil nil "x")'`,
    `osascript -e 'tell application "Finder"' -e 'do shell script "evil x"'`,
    `perl -e 'open(F, "evil x|")'`,
    `perl -e 'open F, "-|", "evil", "x"'`,
    `ruby -e 'open("|evil x")'`,
    `ruby -e 'Kernel.spawn "evil x"'`,
    `ruby -ropen3 -e 'Open3.capture2("evil x")'`,
    `mongosh --eval 'require("child_process").execSync("evil x")'`,
    `rails runner 'system("evil x")'`,
    `iex -e 'System.shell("evil x")'`,
    `sqlite3 db '.import "|evil x" t'`,
    "sqlite3 db '.once |evil x' 'select 1'",
    "pdflatex -shell-escape '\\write18{evil x}'",
    "rpm --eval '%(evil x)'",
    "ipython -c '!evil x'",
    `groovy -e '"evil x".execute()'`,
    'arch -x86_64 evil x',
    'xcrun --sdk macosx evil x',
    "gdb --eval-command='!evil x' a",
    "vim '+!evil x' f",
    "nvim --headless +'silent !evil x' +q",
    `vim -es -c 'call system("evil x")' f`,
    "vim -c '%!evil' f",
    "printf '!evil x\\n' | ed -s f",
    "dc -e '!evil x'",
    "less '+!evil x' f",
    "expect -c 'spawn evil x'",
    "crontab - <<< '* * * * * evil x'",
    "make -f - <<'E'\nall:\n\t@evil x\nE",
    "make --eval='x:; evil x' x",
    "make --eval '$(shell evil x)'",
    "make SHELL='evil x'",
    // Templates that are handed to a shell, and lists and names before a literal.
    "bun -e 'await Bun.$`evil x`.text()'",
    `node --input-type=module -e 'import {$} from "zx"; await $\`evil x\`'`,
    "zx --eval '$({cwd: 1})`evil x`'",
    "node -e 'execa`evil x`'",
    `deno eval 'Deno.run({cmd:["evil","x"]})'`,
    `deno eval 'new Deno.Command("git", {args: ["push"]})'`,
    `python3 -c 'import subprocess; subprocess.Popen(args=["evil","x"])'`,
    `nvim -c 'lua vim.fn.system({"evil","x"})'`,
    `nvim -c "call jobstart(['evil','x'])"`,
    "vim -c 'set noic makeprg=evil' -c make",
    "vim -c 'setlocal shell=evil|!ls'",
    `emacs --batch --eval '(start-process "x" nil "evil")'`,
    `emacs --batch --eval '(make-process :command (list "evil"))'`,
    "kak -e 'nop %sh{evil x}'",
    "vifm -c '!evil x'",
    `sqlite3 db '.read "|evil x"'`,
    `sqlite3 db "select edit(x,'evil')"`,
    "mycli -e 'system evil x'",
    "usql -c '\\! evil x'",
    "beeline -e '!sh evil x'",
    `lftp -c 'set sftp:connect-program "evil x"'`,
  ])('is seen: %s', (line) => {
    expect(verdict(line)).toBe('deny');
  });

  it.each(
    [
      'sed e f',
      "sed -e '1!{e' -e '}' f",
      "sed 's/^/$X /e' f",
      "awk -v c=x 'BEGIN{system(c)}'",
      "awk '{print | c}' f",
    ].concat([`awk '{c | getline x}' f`, `awk '{system("e" "vil x")}' f`]),
  )('may be started: %s', (line) => {
    expect(verdict(line)).toBe('approve');
  });

  it.each([
    "sed 's/we are/e evil the/' f",
    "sed 's#/a#/e evil#;s/[^e]e/evil/' f",
    "sed '1i evil e' f",
    "sed '$a\\\ne evil' f",
    "sed ':e;N;$!be;s/\\n/ evil /g' f",
    "sed -n '/evil e x/p' f",
    "sed 'y/abc/evi/' f",
    'sed -i.bak -f x.sed f',
    `awk '/a|evil/ {print $1}' f`,
    `awk 'BEGIN{FS="|"} {print $1 "|" $2}' f`,
    `awk '{if ($1 == "a" || $2 == "evil") print}' f`,
    `awk '$1 ~ /system\\(/ {print}' f`,
    `python3 -c 'print("run evil now")'`,
    "python3 - <<'E'\ncursor.execute(\"select (a) from t where b = 'evil'\")\nE",
    "node <<'E'\ndb.run(\"insert into t values ('evil')\");\nE",
    `node -e 'console.log(/x/.exec("evil bill"))'`,
    "psql -c 'select 1'",
    `sqlite3 db "select '.shell evil'"`,
    "vim -c 'wq!' f",
    "vim -c '%s/a!evil/b/g' f",
    "gdb -batch -ex 'break evil' a",
    'make evil CC=gcc',
    'less +/evil f',
    "bun -e 'console.log(`evil bill`)'",
    `python3 -c 'print({"cmd": "evil"})'`,
    `node -e 'console.log({command: "evil"})'`,
    "vim -c 'set filetype=evil' x",
  ])('is not seen where nothing starts it: %s', (line) => {
    expect(verdict(line)).toBe('allow');
  });
});

describe('a denied place in the code of a program', () => {
  it.each([
    "python3 - <<'E'\nprint(open('.env').read())\nE",
    `echo 'print(open(".env").read())' | python3`,
    'node <<< \'require("fs").readFileSync(".env")\'',
    `python3.12 -c 'open(".env")'`,
    `perl -e 'print \`cat .env\`'`,
    "sqlite3 db '.import .env t'",
    `perl -e 's/\\"/x/; open F, ".env"'`,
    `ruby -e 'puts eval "File.read(\\".env\\")"'`,
    `sqlite3 db "select readfile('.env')"`,
    `psql -c '\\i .env'`,
    "vim -c 'r .env' f",
    "printf 'r .env\\n,p\\n' | ed",
    'xargs cat <<< .env',
    "sed -f - a <<'E'\nr .env\nE",
    "sed -nf- a <<'E'\ne cat .env\nE",
    `awk -f - a <<'E'\nBEGIN { while ((getline l < ".env") > 0) print l }\nE`,
    `printf 'r .env\\n' > x.sed; sed -f x.sed a`,
    `echo 'BEGIN { system("cat .env") }' > x.awk; awk --file=x.awk a`,
    "printf 'a\\0.env\\0' | xargs -0 cat",
    'cat $\u007bX:-.env}',
    'X=a.env; cat $\u007bX#a}',
    'IFS=,; X=a,.env; cat $X',
    `sqlite3 db "select readfile('$\u007bX=.env}')"`,
    "tclsh <<< 'puts [read [open .env]]'",
    "printf -v X '%s%s' .e nv; cat $X",
    "printf -v X '%*s%s' 2 .e nv; cat $X",
  ])('is seen: %s', (line) => {
    expect(verdict(line)).toBe('deny');
  });
});

describe('what a program works on', () => {
  it.each([
    "sed s/a/b/ <<'E'\nr .env\nE",
    `awk '{ print }' <<'E'\nopen(".env")\nE`,
    "printf 'r .env\\n' > d; sed s/a/b/ d",
  ])('is no code: %s', (line) => {
    expect(verdict(line)).toBe('allow');
  });
});

describe('code of any length', () => {
  it.each([
    ['python3', 'exec'],
    ['python3', 'run("'],
    ['perl', 'qx('],
    ['perl', '`'],
    ['awk', 'print '],
    ['awk', 'system('],
    ['sed', 's['],
    ['sed', '/'],
    ['gdb', '\n'],
    ['crontab', '\n '],
    ['tclsh', ';\n'],
    ['psql', "program '"],
    ['python3', '\\"'],
    ['awk', '\\"'],
    ['awk', 'system("'],
    ['make', 'a:'],
    ['vim', '! '],
  ])('of %s made of %j is read before anybody loses patience', (name, part) => {
    const text = part.repeat(Math.floor(30_000 / part.length));
    expect(['allow', 'approve', 'deny']).toContain(verdict(`${name} '${text.replaceAll("'", '"')}' <<'E'\n${text}\nE`));
  });
});
