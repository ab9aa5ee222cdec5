import { describe, expect, it } from 'vitest';
import { judge, load, loadPreset, plainHost } from './virtual-host.ts';

/** A rule on paths denies words that are paths: not what a search looks for, nor what is printed (02 §7.3, §9.7). */

const rule = (action: string) => ({ tools: 'local_shell', action, when: [{ op: 'command_path', value: '**/.env' }] });
const host = { ...plainHost, programs: [...plainHost.programs, 'grep', 'jq', 'printf', 'rg', 'head'] };
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
    'grep -ie .env .gitignore',
    'grep -rn .env src/*.ts',
    'cd src && grep -rn .env .',
    'npm run build 2>&1 | grep .env | head',
    'rg -n .env src',
    'grep -rn KEY . --exclude=.env --exclude-dir=sub',
    'rg -n KEY -g.env',
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
    'find . -exec grep .env {} +',
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
});
