import { describe, expect, it } from 'vitest';
import { judge, load, loadPreset, plainHost } from './virtual-host.ts';

/** A rule on paths denies words that are paths: not what a search looks for, nor what is printed (02 §7.3, §9.7). */

const rule = (action: string) => ({ tools: 'local_shell', action, when: [{ op: 'command_path', value: '**/.env' }] });
const host = {
  ...plainHost,
  programs: [...plainHost.programs, 'grep', 'jq', 'printf', 'rg', 'head', 'tail', 'xargs', 'time', 'touch'],
};
const lineOf = (command: string) => ({ tools: 'local_shell', tool: 'local_shell', args: { command } });

const verdict = async (command: string, action = 'deny'): Promise<string> => {
  const policy = await load({ default_action: 'allow', rules: [rule(action)] });
  return judge(policy, lineOf(command), host).action;
};

describe('a word that is a text', () => {
  it.each([
    'grep -n .env .gitignore',
    "grep -qxF '.env' .gitignore || echo '.env' >> .gitignore",
    'grep -n -- .env .gitignore',
    'grep -A 3 .env .gitignore',
    'grep --color .env .gitignore',
    'grep --colour=never .env .gitignore',
    'grep -ie .env .gitignore',
    'grep -rn .env src/*.ts',
    'cd src && grep -rn .env .',
    'npm run build 2>&1 | grep .env | head',
    'rg -n .env src',
    'grep -rn KEY . --exclude=.env --exclude-dir=sub',
    "jq -r '.env' package.json",
    'cat package.json | jq .env',
    'echo .env >> .gitignore',
    "printf '%s\\n' .env >> .gitignore",
    'find . -name .env',
    'find . -not -name .env | head',
  ])('is no path: %s', async (line) => {
    expect(await verdict(line)).toBe('allow');
    expect(await verdict(line, 'approve')).toBe('allow');
  });

  it.each([
    'grep x .env',
    'grep .env .env',
    'grep -f .env x',
    'grep -nf.env x',
    'grep --color x .env',
    'grep --colour -- x .env',
    'grep --color=auto x .env',
    'grep -rn --include=.env -f.env x',
    'grep --file=.env x',
    'grep -e x .env',
    'grep .env -e x',
    'grep x -e .env',
    'grep -- .env .env',
    'grep .env < .env',
    'cd . && grep .env *',
    'rg foo .env',
    'rg --files .env',
    'rg .env --files',
    'rg -f .env src',
    'rg --pre cat .env',
    'jq . .env',
    'jq .env .env',
    'jq -n --rawfile x .env .',
    'find .env',
    'find . -newer .env',
    'find . -name .env -delete',
    'find . -name .env -exec cat {} +',
    'find . -name .env | xargs cat',
    'echo .env | xargs cat',
    'echo .env | tar -cT -',
    'echo .env > list; tar cf x.tar -T list',
    'mkfifo p; xargs cat < p & echo .env > p',
    'xargs cat < <(echo .env)',
    'echo .env | while read f; do cat $f; done',
    'echo x > .env',
  ])('hides no path: %s', async (line) => {
    expect(await verdict(line)).toBe('deny');
  });

  it.each([
    'grep() { cat "$@"; }; grep .env',
    'function grep { cat .env; }; grep .env',
    'alias grep=cat; grep .env',
    'hash -p ./x grep; grep .env',
    './grep .env x',
    'PATH=./bin grep .env x',
    'export PATH=./bin; grep .env x',
    'GREP_OPTIONS=-ex grep .env',
    'env GREP_OPTIONS=-ex grep .env',
    'source x; grep .env y',
    "printf -- '-ex\\n' | xargs grep .env",
    "X='-f .env'; grep $X x",
  ])('is a path where its program may be another one, or may get other options: %s', async (line) => {
    expect(await verdict(line)).toBe('deny');
  });

  it('is judged as a path in the line of another toolset, and by the walls', async () => {
    const policy = await load({ default_action: 'allow', rules: [{ ...rule('deny'), tools: '*' }] });
    const other = { tools: 'server', tool: 'run', args: { command: 'grep .env x' } };
    expect(judge(policy, lineOf('grep -rn .reins/local.db src'), host).reason).toBe('control_plane');
    const keyed = { ...rule('deny'), tools: '*', when: [{ op: 'command_path', key: 'command', value: '**/.env' }] };
    expect(judge(await load({ default_action: 'allow', rules: [keyed] }), other, host).action).toBe('deny');
  });

  it.each([
    ['grep -rn .npmrc src', 'allow'],
    ['find . -name id_rsa', 'approve'],
    ['cat .npmrc', 'deny'],
    ['grep x .npmrc', 'deny'],
  ])('under the preset: %s', (line, action) => {
    expect(judge(loadPreset('default'), lineOf(line), host).action).toBe(action);
  });

  it.each([
    'xargs grep .env',
    "find . -name '*.ts' | xargs grep -n .env",
    "find src -type f -name '*.ts' | head -20 | xargs -I{} grep -Hn .env {}",
    'find . -type f -exec grep -l .env {} +',
    'git ls-files | xargs grep -l .env',
    "printf '%s\\n' a b | xargs grep .env",
    'timeout 5 grep -rn .env src',
    'grep --recursive --line-number .env src',
    'rg --fixed-strings -u .env',
    'git grep -n .env -- src',
    'git --no-pager log --oneline --grep=.env -S config/.env',
    'git commit -m .env',
    'git add -A && git commit -qm "Remove config/.env" && git push',
    `git commit -m "$(cat <<'EOF'\nUse it\n\n- not config/.env\n- nor ~/x/.env\nEOF\n)"`,
    'git tag -a v1 -m .env',
    'git stash push -m .env',
    'gh pr create --title x --body "remove config/.env"',
    'grep -n .env .gitignore && npm test 2>&1 | tail -5',
    'grep -q .env .gitignore || { echo missing; exit 1; }',
    'tar czf x.tgz --exclude .env src',
    'rsync -av --exclude .env src/ host:x',
    'zip -r x.zip src -x .env',
    "awk '/.env/' .gitignore",
    "perl -ne 'print if m{config/.env}' x",
  ])('is no path of a program that looks for it, says it or leaves it out: %s', async (line) => {
    expect(await verdict(line)).toBe('allow');
  });

  it.each([
    "printf -- '-ex' | xargs grep .env",
    'xargs -a .env grep x',
    'rg -n KEY -g.env',
    'rg --hidden --glob .env KEY',
    'grep -rn KEY --include=.env .',
    'xargs grep x .env',
    'xargs -I .env cat .env',
    'find . | xargs cat .env',
    'grep -o .env x | xargs cat',
    'env X=1 grep .env x',
    'git grep x -- .env',
    'git grep x -e .env',
    'git grep -f .env',
    'git commit -F .env',
    'git commit -m x .env',
    'git commit $X -m .env',
    'git branch -m .env',
    'git() { cat "$3"; }; git commit -m .env',
    'git commit -m $(cat x) .env',
    'gh pr create --body-file .env',
    'gh release create v1 -F --notes .env',
    'tar -cf --exclude .env src',
    'tar -cf x -- --exclude .env',
    'rsync -e --exclude .env host:x',
    'zip -r x.zip src .env',
    "awk '{print}' .env",
    'awk -f .env x',
    'perl x.pl -e .env',
    'python3 -c "open(\'.env\')"',
    'echo .env > l && xargs cat < l',
  ])('stays a path where the program may open it: %s', async (line) => {
    expect(await verdict(line)).toBe('deny');
  });

  it.each(['cat list | xargs grep .env', 'xargs grep .env < list', 'touch -- -ex; ls | xargs grep .env'])(
    'is asked about where an option among unknown words would make it a path: %s',
    async (line) => {
      expect(await verdict(line)).toBe('approve');
    },
  );

  it.each([
    'git commit -m "docs: mention ~/.ssh/config"',
    'git commit -m "add .github/workflows/ci.yml"',
    'gh pr create -t x -b "adds .npmrc"',
    'rsync -a --exclude .git --exclude node_modules src/ out/',
    'git grep .npmrc',
  ])('touches no protected file: %s', async (line) => {
    const policy = await load({ default_action: 'allow', rules: [] });
    expect(judge(policy, lineOf(line), host).action).toBe('allow');
  });
});
