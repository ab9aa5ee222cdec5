import { describe, expect, it } from 'vitest';
import { verdict } from './denying.ts';

describe('a denied program among the words of a launcher', () => {
  it.each([
    'kubectl exec p -- evil x',
    'kubectl exec -it p -c c -- evil',
    'kubectl exec p evil',
    'kubectl exec -f p.yaml -- evil',
    'kubectl exec -- p evil',
    'kubectl exec p x -- evil',
    'kubectl exec -- --x evil',
    'tmux new -s -n evil',
    'nodemon --surprise -w evil',
    'hyperfine -- -n evil',
    'op run x -- evil',
    "npm -c 'evil x' exec",
    'fly -C evil ssh console',
    'hatch run +py=3.8 evil',
    'vagrant docker-exec -- evil',
    'kubectl exec --surprise p -- evil',
    'kubectl exec --surprise p evil',
    'kubectl run x --image=y -- evil',
    "kubectl -n x exec p -- sh -c 'evil x'",
    'oc rsh p evil',
    'lxc exec -t c evil',
    'tmux new -s a evil',
    "tmux new -ds a 'evil x'",
    'tmux display-popup -E evil',
    'screen -dmS a evil',
    'nodemon -x evil',
    'hyperfine -w 3 evil',
    'pm2 start evil --name a',
    'xterm -T a -e evil',
    'uv run --with a evil',
    'uv tool run evil',
    'poetry run -v evil',
    'bundle exec evil',
    'fakeroot -- evil',
    'env $\u007bx:=evil}',
    'sudo -- $\u007bx:=evil}',
    'env $\u007bx:=a=b} evil',
    'noglob evil x',
    // So is it named to one shell.
    '=evil x',
    'sudo =evil x',
    'env =evil x',
    "zsh -c '=evil x'",
    "=sh -c 'evil x'",
    'nocorrect evil',
    "xvfb-run -s '-screen 0' evil",
    'taskset -c 0 evil',
    'conda run -n x evil',
    'npm exec --yes evil',
    'yarn workspaces foreach -A exec evil',
    // Behind many other words.
    'bwrap --ro-bind /usr /usr --ro-bind /lib /lib --ro-bind /bin /bin --proc /proc --dev /dev --tmpfs /tmp --bind a a evil',
    'parallel ::: a b c d e f g h i j k l m evil',
    // Another machine's programs, and a package manager behind another.
    'qemu-x86_64 /bin/evil x',
    'wine evil',
    'corepack yarn dlx evil',
    // Without a command they are a shell.
    "newgrp x <<< 'evil x'",
    'sg x <<E\nevil x\nE',
    'fakeroot <<E\nevil x\nE',
    'echo evil | setarch x86_64',
    'nix-shell -p jq <<E\nevil x\nE',
    'nix develop .#x <<E\nevil x\nE',
    'poetry shell <<E\nevil x\nE',
    'machinectl shell u@ <<E\nevil x\nE',
    'vagrant ssh <<E\nevil x\nE',
    // Launchers of builds, versions, clusters and terminals.
    'ccache evil x',
    'bear -- evil x',
    'composer exec -- evil',
    'lerna exec -- evil x',
    'stack exec -- evil',
    'tox exec -- evil',
    'mix cmd evil',
    'rustup run stable evil',
    'rvm 3.0 do evil',
    'apptainer exec img evil',
    'buildah run c -- evil',
    'systemd-nspawn -D x evil',
    'limactl shell x evil',
    'flatpak-spawn --host evil',
    'gh codespace ssh -- evil',
    'etcdctl watch x -- evil',
    'consul lock x evil',
    "salt-call --local cmd.run 'evil x'",
    'gtimeout 5 evil',
    'genv A=b evil',
    'gfind . -exec evil {} +',
    'run0 evil',
    'heaptrack evil',
    'cross-env A=b evil',
    'dotenvx run -f .x -- evil',
    'dotenv -e .x -- evil',
    "entr -s 'evil x'",
    'watchexec -e js -- evil',
    'op run --env-file x -- evil',
    'aws-vault exec -- p evil',
    'nvm exec 18 evil',
  ])('is found: %s', (line) => {
    expect(verdict(line)).toBe('deny');
  });

  it('may be where only the shell knows the words', () => {
    expect(verdict('kubectl exec -it $X -- ls')).toBe('approve');
    expect(verdict('fakeroot $X evil')).toBe('deny');
    expect(verdict('kubectl $X p -- evil')).toBe('deny');
    expect(verdict('kubectl -n x $X p -- evil')).toBe('deny');
    expect(verdict('npm $X -- evil')).toBe('deny');
    expect(verdict('kubectl get pods $X -- evil')).toBe('allow');
    expect(verdict('cargo test $X -- evil')).toBe('allow');
  });

  it('asks where a shell of a launcher reads what another program makes', () => {
    expect(verdict('curl x | nix develop')).toBe('approve');
    expect(verdict('curl x | newgrp docker')).toBe('approve');
    expect(verdict('curl x | fakeroot make')).toBe('allow');
    expect(verdict("curl x | nix-shell --run 'jq .'")).toBe('allow');
  });

  it('asks where there are more words than are looked at', () => {
    expect(verdict(`socat ${'a '.repeat(60)}`)).toBe('approve');
    expect(verdict(`parallel ::: ${'a '.repeat(60)}`)).toBe('approve');
    expect(verdict(`parallel ls ::: ${'a '.repeat(60)}`)).toBe('allow');
  });

  it.each([
    // What the command reads is no script.
    'echo evil | fakeroot cat',
    'echo evil | setarch x86_64 cat',
    "echo evil | nix-shell --run 'cat'",
    "echo evil | sg docker 'cat -'",
    'echo evil | poetry add x',
    'echo evil | vagrant up',
    'kubectl exec p -- ls evil',
    'kubectl exec -it evil -c evil -- ls evil',
    'kubectl -n evil exec p -- ls',
    'kubectl -n evil get pods',
    'kubectl run evil --image=x',
    'lxc exec c -- ls evil',
    'tmux new -s evil',
    'tmux new-session -d -s evil -n evil',
    'tmux attach -t evil',
    'screen -dmS evil ls',
    'nodemon --ext evil',
    'nodemon -e evil --watch evil app.js',
    'hyperfine -n evil ls',
    'pm2 start app.js --name evil',
    'xterm -T evil -e ls',
    'npm evil x',
    'echo =evil',
    'test a = evil',
    'env A==evil ls',
    'npm exec -- tsc evil',
    'uv run pip install evil',
    'poetry run git evil x',
    'bundle exec rake evil',
    'fakeroot make evil',
    'valgrind ls evil',
    'conda run -n evil ls',
    'conda install -n run evil',
    'mise exec node@20 -- npm run evil',
    'vagrant up evil',
    'adb install evil',
    'perf report -i evil',
    'ccache gcc -c evil',
    'rustup target add evil',
    'brew install evil',
    'gh run view evil',
    'parallel :::: evil',
    'op run -- npm run evil',
    'nx exec -- tsc evil',
    'nvm exec 18 npm run evil',
    'dotenv -e .x -- npm run evil',
    'cross-env A=b npm test evil',
    'entr -r npm run evil',
    'watchexec -r -e js npm run evil',
    'yarn workspaces foreach -At exec tsc evil',
  ])('is not seen where it is a name or a word of another program: %s', (line) => {
    expect(verdict(line)).toBe('allow');
  });
});
