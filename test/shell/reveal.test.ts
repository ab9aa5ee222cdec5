import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LoadedPolicy } from '../../src/schema/policy.ts';
import { judge, load, plainHost } from '../policy/virtual-host.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let home: TempHome;
let denying: LoadedPolicy;
beforeEach(async () => {
  home = tempHome();
  const when = [{ key: 'command', op: 'command_blacklist', value: 'evil' }];
  denying = await load({ default_action: 'allow', rules: [{ action: 'deny', when }] });
});
afterEach(() => home.remove());

const verdict = (command: string) =>
  judge(denying, { tools: 'local_shell', tool: 'local_shell', args: { command, shell: true } }, plainHost).action;

const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const double = (text: string): string => `"${text.replace(/["$\\`]/g, (char) => `\\${char}`)}"`;
const escaped = (text: string): string => text.replace(/[\\`$]/g, (char) => `\\${char}`);

/** Ways to have a line run by another one. */
const ways: readonly ((line: string) => string)[] = [
  (line) => `eval ${single(line)}`,
  (line) => `sh -c ${single(line)}`,
  (line) => `bash -ec ${double(line)}`,
  (line) => `sh -o errexit -c ${single(line)} name`,
  (line) => `echo "$(${line})"`,
  (line) => `echo \`${escaped(line)}\``,
  (line) => `if ${line}; then :; fi`,
  (line) => `for i in 1; do ${line}; done`,
  (line) => `while ${line}; do break; done`,
  (line) => `case a in a) ${line};; esac`,
  (line) => `sh <<E\n${escaped(line)}\nE`,
  (line) => `sh <<'E'\n${line}\nE`,
  (line) => `. /dev/stdin <<'E'\n${line}\nE`,
  (line) => `cat <<E\n$(${line})\nE`,
  (line) => `printf %s ${single(line)} | sh`,
  (line) => `{ echo ${single(line)} | cat; } | bash`,
  (line) => `env A=1 printf %s ${single(line)} | tee log | sh`,
  (line) => `env -S ${single(line)}`,
  (line) => `env -i A=b ${line}`,
  (line) => `timeout -s KILL 5 ${line}`,
  (line) => `nice -n 1 ${line}`,
  (line) => `nohup ${line}`,
  (line) => `xargs -n 1 ${line}`,
  (line) => `find . -maxdepth 0 -exec ${line} \\;`,
  (line) => `f() { ${line}; }; f`,
  (line) => `( ${line} )`,
  (line) => `{ ${line}; }`,
  (line) => `! ${line}`,
  (line) => `A=1 ${line}`,
  (line) => `>o ${line}`,
  (line) => `ls && ${line}`,
  (line) => `ls; ${line} # ls`,
  (line) => `ls\n${line}`,
  (line) => `cat | ${line}`,
  (line) => `command ${line}`,
  (line) => `exec ${line}`,
  (line) => `trap ${single(line)} EXIT`,
  (line) => `alias q=${single(line)}\nq`,
  (line) => `Z=${single(line)}; eval "$Z"`,
  (line) => `Q=sh; $Q -c ${single(line)}`,
  (line) => `set -- ${line}; "$@"`,
  (line) => `sh /dev/fd/3 3<<'E'\n${line}\nE`,
  (line) => `bash <(printf %s ${single(line)})`,
  (line) => `bash < <(printf %s ${single(line)})`,
  (line) => `{ sh; } <<'E'\n${line}\nE`,
  (line) => `if :; then sh; fi <<'E'\n${line}\nE`,
  (line) => `printf %s ${single(line)} | xargs sh -c`,
  (line) => `printf %s ${single(line)} | xargs -I% sh -c %`,
  (line) => `time -o log ${line}`,
  (line) => `printf '%s\\n' ${single(line)} | tail -n 5 | sh -s`,
  (line) => `printf '%s\\n' ${single(line)} | sh -c 'cat | sh'`,
  (line) => `. /proc/self/fd/0 <<'E'\n${line}\nE`,
  (line) => `cat <<'E' > >(sh)\n${line}\nE`,
  (line) => `x=${single(`a[$(${line})]`)}; : $((x))`,
  (line) => `PS4=${single(`$(${line})`)}; set -x; :`,
  (line) => `BASH_ENV=${single(`$(${line})`)} bash -c :`,
  (line) => `/proc/self/exe -c ${single(line)}`,
  (line) => `alias q='env '\nq ${line}`,
  (line) => `alias q='ls;' r=q\nr ${line}`,
  (line) => `set -- ${single(`a[$(${line})]`)}; : $(($1))`,
  (line) => `f() { : $(($1)); }; f ${single(`a[$(${line})]`)}`,
  (line) => `bash -c '[[ $1 -eq 1 ]]' _ ${single(`a[$(${line})]`)}`,
  (line) => `printf '%s\\n' ${single(`a[$(${line})]`)} | { read x; : $((x)); }`,
  (line) => `printf %s ${single([...line].reverse().join(''))} | rev | sh`,
  (line) => `printf %s ${single(Buffer.from(line).toString('base64'))} | base64 -d | tee log | bash -s`,
  (line) => `printf %s ${single(line)} > s; sh s`,
  (line) => `cat > ./s <<'E' && chmod +x s && ./s\n${line}\nE`,
  (line) => `printf %s ${single(line)} | tee s; . ./s`,
  (line) => `{ printf %s ${single(line)}; } > s; timeout 5 bash s`,
  (line) => `(cat <<'E'\n${line}\nE\n) >> s; sh < s`,
  (line) => `f() { sh s; }; cat <<'E' > s; f\n${line}\nE`,
  (line) => `for i in 1 2; do if [ -f s ]; then sh s; fi; printf %s ${single(line)} > s; done`,
  (line) => `awk ${single(`BEGIN { system(${JSON.stringify(line)}) }`)}`,
];

const spellings = [
  ...['evil', 'evil x', 'e"vi"l', "'evil'", 'e\\vil', '/bin/./evil', 'X=evil; $X', 'X=ev; "$X"il'],
  ...['$(echo evil)', '`printf "\\145vil"`', '{evil,x}', 'for c in evil; do $c; done'],
  ...['shopt -s expand_aliases; BASH_ALIASES[q]=evil\nq', 'f() { X=evil; }; f; $X'],
];

/** Spellings that only the shell works out. */
const hidden = [
  'echo evil > s; sh < s$Y',
  'echo evil > s; sh < $(ls)',
  'Y=evil; echo evil > s; sh < s$\u007bY[1]}',
  'X=xevil; $\u007bX#$Y}',
  'read X <<E\nevil\nE\n$X',
  'IFS=,; X=sudo,evil; $X',
];

describe('a denied program', () => {
  it.each(ways.map((way) => way('evil')))('is found in %j', (line) => {
    expect(['deny', 'approve']).toContain(verdict(line));
  });

  it.each([
    'X=xevil; $\u007bX#x}',
    'X=a/b/evil; $\u007bX##*/}',
    'X=evil.x.y; $\u007bX%%.*}',
    'X=a.evil.; Y=$\u007bX%?}; $\u007bY##?.}',
    'X=xevil; e$\u007bX#x?}',
    "printf -v X '%s%s' ev il; $X",
    ': $\u007bX:=evil}; $X',
    'X=il; X=evil; exec $\u007bX%a}',
    'X=evil; X=il; $\u007bX%a}',
  ])('is found by what is taken away or put together: %j', (line) => {
    expect(verdict(line)).toBe('deny');
  });

  it.each([...hidden, "for i in 1 2; do sh s; printf %s 'alias q=env\\nq echo evil > s; sh < s$Y' > s; done"])(
    'is asked about as %j',
    (line) => {
      expect(verdict(line)).toBe('approve');
    },
  );

  it.each(spellings)('is found as %j', (line) => {
    expect(verdict(line)).toBe('deny');
  });

  it.each([
    "cat > s.py <<'E'\nimport os\nos.system('evil')\nE\npython3 s.py",
    `printf '#!/usr/bin/env python3\nimport os; os.system("evil")' > s; chmod +x s; ./s`,
    'printf ev > s; printf il >> s; sh s',
    'echo evil > s; env bash -x s a',
    'echo evil > s; source s',
    'git -c alias.x="!evil y" x',
    'git -C sub -c core.pager=evil log',
    'git -c credential.helper=!evil fetch',
    'git rebase -i --exec="evil x" HEAD',
    'git submodule foreach --recursive evil x',
    'git bisect run evil',
    'git grep -O"evil x" y',
    'git clone --upload-pack="evil x" a b',
    'git push --receive-pack "evil x" o',
    'fd -e c -x evil {}',
    "exec <<'E' > log\nevil x\nE\nsh",
    'exec 2> log <<< evil; sh',
    'hash -p /opt/evil ls; ls',
    "env -S 'evil\\cx'",
    "fdfind . --exec-batch sh -c 'evil x'",
    'tar --checkpoint-action=exec="evil x" -cf a b',
    'tar -I evil -cf a b',
    'rsync -e "evil x" a b',
    'ssh -oProxyCommand="evil x" h',
    'scp -S evil a b',
    'vim -c ":!evil"',
    "split --filter='evil x' f",
    "sed -n '1e evil y' f",
    `awk 'BEGIN{system("evil x")}'`,
    `env gawk -f a -e '{print | "evil z"}'`,
    `awk '{"evil y" | getline x}'`,
    "sqlite3 db '.shell evil x'",
    "sqlite3 -cmd '.system evil' db",
    "ncat -e 'evil x' h 1",
    'git config set --global core.pager "evil x"',
    "git config alias.x '!evil y'",
    'case x in y) evil;; esac',
    'BASH_ALIASES[q]=evil',
    'BASH_CMDS[ls]=/opt/evil; ls',
    // A here-document is expanded as in double quotes, where a quote ends no expansion.
    "cat <<E\n$\u007bU:-'}$(evil)'}\nE",
    "cat <<E\na $\u007bU:-'}`evil`\nE",
    // Each value of a name, also where another command prints it or another name gets it.
    'for r in evil ls; do echo $r x | sh; done',
    'for r in evil ls; do sh <<< "$r x"; done',
    'for r in evil ls; do $(echo $r) x; done',
    'for r in evil ls; do s=$r; $s x; done',
    'a=(evil x); echo $a y | sh',
    'env =a evil x',
    'find . $X evil {} +',
    "read o <<< c; sh -$o 'evil x'",
    "sh -c - 'evil x'",
    'bash -e - evil',
    'bash + evil',
    "bash + -c 'evil x'",
    'su root evil',
    'runuser -m root evil',
    'echo evil x | script -q log',
    'env -- a.b=c evil',
    'sudo a.b=c evil',
    'man -Pevil ls',
    'parallel ::: "ls a" "evil b"',
    'parallel {} ::: evil',
    'docker run --entrypoint=evil img',
    'docker-compose run web evil',
    'runuser -l x -c evil',
    'fish -C evil',
    'socat - SYSTEM:evil,pty',
    'choom -n 1 -- evil x',
    'setlock f evil',
    'nq evil x',
    'guix shell -- evil',
    "sops exec-env f 'evil x'",
    "cargo watch -s 'evil x'",
    'pandoc a -F evil',
    'pandoc --filter=evil a',
    "restic --password-command 'evil x' snapshots",
    "yt-dlp --exec 'after_move:evil x' u",
    'aria2c --on-download-complete=evil u',
    "gpg --photo-viewer 'evil %i' -k",
    "xargs -n 1 printf %s 'evil' | sh",
    'xargs -n 1 env A=1 printf %s evil | tee log | sh',
    "sh -c 'echo evil' | sh",
    '{ printf ev; printf il; } | sh',
    'echo evil | timeout 4 cat | sh',
    'echo "$X" evil | sh',
    'bash -x evil y',
    'sh -- evil',
    "printf '%.4s' evilx | sh",
    "printf '%c%c%c%c' ex vx ix lx | sh",
    "printf '%xvil' 14 | sh",
    'echo -n ev | { cat; echo il; } | sh',
    "printf -v 'a[$(evil)]' x",
    "[ -v 'a[$(evil)]' ]",
    "[[ 'a[$(evil)]' -eq 1 ]]",
    "echo $(('$(evil)'))",
    "cat <<E\n$(( x='$(evil)' ))\nE",
    "a['$(evil)']=1",
    "for ((i='$(evil)';i<1;i++)); do :; done",
    'PROMPT_COMMAND=evil bash -i',
    'env PAGER="evil x" man ls',
    'export "GIT_SSH_COMMAND=evil x"; git fetch',
    "printf 'x:\\n\\tevil y\\n' > Makefile && make",
    'cat > Makefile <<E\nx:\n\t@evil y\nE\nmake -j2 x',
    "echo 'x:;evil y' > build.mk; make -sf build.mk x",
    "echo 'X := $(shell evil y)' > b.mk; make --file=b.mk",
    `NODE_OPTIONS='--import=data:text/javascript,require("child_process").execSync("evil x")' node y`,
    `export PERL5DB='BEGIN{system("evil x")}'; perl -d y`,
    `PERL5OPT='-Mstrict;system(q,x,),system("evil")' perl y`,
    `LUA_INIT_5_4='os.execute("evil x")' lua y`,
    `TAR_OPTIONS='--to-command="evil x"' tar xf a`,
    "env MAKEFLAGS='--eval=x:;evil' make",
    "GNUMAKEFLAGS='--eval=$(shell evil x)' make",
    "EXINIT='!evil x' ex f",
    "LESS='-R +!evil' less f",
    "MANOPT='-P evil' man ls",
    'ZIPOPT="-TT evil" zip -T a b',
    "FZF_DEFAULT_COMMAND='evil x' fzf",
    'CARGO_BUILD_RUSTC_WRAPPER=evil cargo build',
    'NPM_CONFIG_SCRIPT_SHELL=evil npm test',
    `cargo build --config 'build.rustc-wrapper="evil"'`,
    `cargo run --config 'target.x.runner = ["evil", "x"]'`,
    'LESSOPEN="|evil %s" less f',
    'mapfile -C evil -c 1 x',
    'compgen -C evil x',
    '/lib64/ld-linux-x86-64.so.2 --argv0 x /bin/evil',
    '/lib/ld-musl-x86_64.so.1 /bin/evil',
    'sh 3<<A <<B\nx\nA\nevil\nB',
    '>o ! evil',
    ": <<'E\nF'\na\nE\nF\nevil",
    'source <(echo evil)',
    ". -- <(printf '\\145vil')",
    'bash -x <(echo evil; echo x)',
    'sh < <(echo evil)',
    '{,evil} x',
    'rsync -ae evil a b',
    'tar -cIevil -f a b',
    'git rebase -ix "evil y" HEAD',
    'git grep -nOevil x',
    'ssh -vo "ProxyCommand evil" h',
    'git -c remote.o.uploadpack=evil fetch o',
    'git -c core.alternateRefsCommand=evil fetch',
    'git -c trailer.x.cmd=evil interpret-trailers',
    'git -c interactive.diffFilter=evil add -p',
    'git clone -c core.sshCommand="evil y" ssh://h/x',
    'git clone --config=core.sshCommand=evil ssh://h/x',
    'git fetch "ext::evil y"',
    'git clone ext::evil x',
    '$X evil y',
    '$(true) evil',
    'env $X nice $Y evil',
    'sh -c "$X evil"',
    'ev$(true)il x',
    'ev$\u007bX}il x',
    '$\u007bX:-evil} y',
    '/bin/$X/evil',
    // Settings of `git` that variables hold, its subcommands as files, and what it starts for each repository.
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0='evil x' git status",
    "env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!evil' git x",
    `GIT_CONFIG_PARAMETERS="'core.fsmonitor=evil x'" git status`,
    "git send-email --sendmail-cmd='evil x' p",
    'git instaweb -d evil',
    // Long options as they may be shortened.
    "tar --to-comm='evil x' -xf a",
    "tar --checkpoint --checkpoint-act=exec='evil x' -cf a b",
    'sort --compress-p=evil a',
    "split --filt 'evil x' f",
    "git rebase --exe 'evil x' HEAD",
    "rsync --rsync-path='evil x' a h:",
    "ssh -o RemoteCommand='evil x' h",
    "go test -exec 'evil x' ./...",
    'go vet -vettool=evil',
    'gcc -wrapper evil,x a.c',
    "apt-get -o APT::Update::Pre-Invoke::='evil x' update",
    "dpkg --pre-invoke='evil x' -i a",
    "ansible all -m shell -a 'evil x'",
    "fzf --bind 'enter:execute(evil x)'",
    "bat --pager 'evil x' f",
    "hg --config alias.x='!evil y' x",
    'svn diff --diff-cmd=evil',
    'npm --script-shell=evil run x',
    'bind -x \'"a": evil\'',
    'RUSTC_WRAPPER=evil cargo build',
    'CARGO_TARGET_X86_64_RUNNER=evil cargo run',
    "pnpm -c exec 'evil x'",
    'cmake -E env A=b evil x',
    'nix develop -c evil x',
    'ip netns exec a evil x',
    'xterm -e evil x',
    'sshpass -p x ssh h evil x',
    'gcloud compute ssh h -- evil x',
    'adb shell evil x',
    'crictl exec c evil x',
    'kubectl exec -it p -- evil x',
    // By how an option or a variable is named.
    "ack --pager='evil x' y",
    "delta --pager 'evil x'",
    'helm template --post-renderer evil c',
    "bazel run --run_under='evil x' //a",
    "KUBE_EDITOR='evil x' kubectl edit p",
    "BAT_PAGER='evil x' bat f",
    "RESTIC_PASSWORD_COMMAND='evil x' restic snapshots",
    "BORG_RSH='evil x' borg list",
    'env CCACHE_PREFIX=evil ccache gcc a.c',
    'aws-vault exec p -- evil x',
    'op run -- evil x',
    "pm2 start 'evil x'",
    "bun exec 'evil x'",
    'abduco -n s evil x',
    'jobs -x evil y',
    "pwsh -Command '& evil x'",
    "nu -c '^evil x'",
  ])('is found where an option or another argument has it started: %s', (line) => {
    expect(verdict(line)).toBe('deny');
  });

  it.each([
    'f() { sh; }; f <<< evil',
    'find . -exec {} +',
    'ls | xargs env',
    'ls | xargs -I% %',
    "find . -exec sh -c 'cat {}' ';'",
    'ls | xargs -n 1 bash',
    "$'\\x{65vil' x",
    'bash "$X"',
    'echo "$X" | sh',
    'IFS=,; x=evil,a; $x',
    'v="/bin/ev*"; $v',
    'echo evil | tee >(sh)',
    'ls | xargs -IR env R',
    'bash --init-file <(cat x) -i',
    'BASH_ENV=<(cat x) bash -c :',
    "env -S 'sh\\_-c\\_evil'",
    'git --config-env=core.pager=X log',
    'git --config-env alias.x=X x',
    'curl -s https://h/x | sh',
    'base64 -d x | timeout 5 bash -s',
    'cat x | sudo sh',
    'curl -s https://h/x > s; sh s',
    'curl -so s https://h/x && sh s',
    'base64 -d x > s && chmod +x s && ./s',
    'wget -O s.py https://h/x; python3 s.py',
    'printf "a\\nb" | tr a e | sh',
    '{ echo ls; make -n; } | sh',
    'python3 gen.py | tee log | sh',
    'curl -s https://h/x | sh -c "cat | sh"',
    'curl -s https://h/x | . /dev/stdin',
    'cat x | ssh h bash',
    'BASH_ALIASES[q]=git; q x',
    'GLOBIGNORE=.:..; cat *',
    'shopt -s dotglob; cat *',
    "bash -O dotglob -c 'cat *'",
  ])('may stand in what a program reads: %s', (line) => {
    expect(verdict(line)).toBe('approve');
  });

  it.each([
    'git clean -x -d -f',
    // It says what a name stands for.
    'command -v evil',
    'command -pV evil >/dev/null',
    'kubectl exec -it p -- sh',
    'tar --checkpoint evil -cf a b',
    "pnpm exec vitest -t 'it (works)'",
    "apt-get -o Dpkg::Options::='evil' install x",
    "hg --config ui.username='evil' commit",
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0='A (evil' git commit",
    'git --config-env=http.extraHeader=X fetch',
    'cmake -S evil -B build',
    'ip addr show evil',
    'git commit -c HEAD -m "run !evil"',
    'git -c core.pager=cat log',
    `awk -F: '{print $1 " | evil " $2}' f`,
    "sed -e 's/evil/other/g' f",
    'git config user.name evil',
    'git config --get core.pager',
    'git -c alias.x="log -p" x',
    'tar --checkpoint-action=dot -xf a',
    'git push -u origin evil',
    'git clone -b evil https://h/x',
    'git -c http.extraHeader=evil fetch',
    'rsync -avz evil b',
    'tar -czf a.tgz evil',
    "alias ls='ls -l'\nls evil 'a;evil'",
    'f() { echo "$1"; }; f evil \'it costs $5 (evil)\'',
    'set -- evil; echo "$1"',
    'fd -e c -x wc -l ";" evil',
    'rsync -e ssh a b',
    'ssh -S ctl -o StrictHostKeyChecking=no h ls',
    'vim -c "set nu" evil',
    'rg -c evil',
    'ls | xargs -I{} cp {} x',
    "find . -exec sh -c 'cat \"$1\"' _ {} ';'",
    'parallel ls ::: a b',
    'while IFS= read -r line; do echo "$line"; done < f',
    "X='*.c'; wc -l $X",
    'ls | xargs -I{} timeout 5 curl {}',
    'ENV=evil CI=1 npm test',
    "NODE_OPTIONS='--max-old-space-size=4096 --require ./evil' npm test",
    'MAKEFLAGS=-j8 make evil',
    'LESS=-FRX git log evil',
    "TAR_OPTIONS='--exclude=evil' tar cf a b",
    'cargo build --config net.offline=true --config evil.toml',
    "NOTE='it`s evil, (he said'; echo $((1 + 2))",
    'PAGER=cat git log -n 3 | tee >(gzip > evil)',
    "echo 'evil (' | grep -c evil",
    "printf '%s\\n' 'evil (' | head -n 1 | tee evil",
    'timeout 5 echo ls | tee evil | sh',
    '{ cd a; export B=1; echo ls; echo pwd; } | sh',
    'make 2>&1 | (exec 3>&1; cat)',
    'tar cz evil | ssh h tar xz',
    'sh < x',
    'sh s',
    'echo ls > s; sh s',
    'make > build.log && sh deploy.sh',
    "printf 'evil:\\n\\tls\\n' > Makefile && make evil",
    "printf 'x:\\n\\tevil\\n' > other.mk && make",
    'curl -o f.tgz x && make',
    'cc -o evil2 x.c && ./evil2',
    'node gen.js > out.json; node use.js out.json',
    "cat > a.py <<'E'\nprint('evil')\nE\npython3 a.py",
    'op item get evil',
    'pm2 logs evil',
    'bun add evil',
    'jobs -l evil',
    'MY_EDITOR_THEME=evil ls',
    'DEPLOY_SSH_KEY=evil npm test',
    'FOO_COMMAND="npm start evil" npm test',
    'gh pr create --editor-theme evil --title "evil x"',
  ])('is not seen where nothing starts it: %s', (line) => {
    expect(verdict(line)).toBe('allow');
  });

  it('is never started by a line that is allowed', () => {
    const programs = join(home.dir, 'programs');
    mkdirSync(programs);
    const program = (name: string, text: string) =>
      writeFileSync(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    program('evil', ': > "$MARK"');
    for (const name of [
      'env',
      'timeout',
      'nice',
      'nohup',
      'xargs',
      'find',
      'cat',
      'tee',
      'sh',
      'bash',
      'printf',
      ...['rev', 'base64', 'awk'],
    ]) {
      const file = [`/usr/bin/${name}`, `/bin/${name}`].find((path) => existsSync(path));
      if (file !== undefined) program(name, `exec ${file} "$@"`);
    }
    program('ls', 'exit 0');
    const line = fc
      .tuple(
        fc.constantFrom(...spellings, ...hidden),
        fc.array(fc.constantFrom(...ways), { minLength: 1, maxLength: 3 }),
      )
      .map(([spelling, chosen]) => chosen.reduce((inner, way) => way(inner), spelling as string));
    const shells = ['/bin/sh', '/bin/bash'].filter((shell) => existsSync(shell));
    let number = 0;
    fc.assert(
      fc.property(line, (command) => {
        if (verdict(command) !== 'allow') return;
        for (const shell of shells) {
          number += 1;
          // A mark of its own, because what one line leaves in the background may outlive it.
          const mark = join(home.dir, `mark-${number}`);
          const cwd = join(home.dir, `cwd-${number}`);
          mkdirSync(cwd);
          spawnSync(shell, ['-c', command], {
            cwd,
            env: { PATH: programs, MARK: mark },
            timeout: 5000,
            stdio: 'ignore',
          });
          expect(existsSync(mark), command).toBe(false);
          rmSync(cwd, { recursive: true, force: true });
        }
      }),
      { numRuns: 800 },
    );
  }, 120_000);
});
