import { describe, expect, it } from 'vitest';
import type { PolicyHost } from '../../src/schema/policy.ts';
import { judge, load, plainHost } from './virtual-host.ts';

/** What a patch changes stands in no word of its command: the names in it count, wherever it comes from. */

const of = (name: string): string => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-x\n+y\n`;
const texts: Readonly<Record<string, string>> = {
  '/srv/p/good.patch': of('src/a.ts'),
  '/srv/p/bad.patch': `From: a\n\n${of('src/a.ts')}${of('.env')}`,
  '/srv/p/mail.patch': `Content-Transfer-Encoding: base64\n\nLS0tIGEvLmVudgo=\n`,
  '/srv/p/quoted.patch': '--- "a/.e\\156v"\n+++ "b/.e\\156v"\n',
  '/srv/p/moved.patch': 'diff --git a/x b/.env\nsimilarity index 100%\nrename from x\nrename to .env\n',
  '/srv/p/mode.patch': 'diff --git a/.env b/.env\nold mode 100644\nnew mode 100755\n',
};
const host: Partial<PolicyHost> = {
  textOf: (path) => texts[path] ?? null,
  isDirectory: (path) => ['/', '/srv', '/srv/p', '/srv/p/src'].includes(path),
  hardLinks: (path) => (path === '/srv/p/.env' || path in texts ? 1 : 0),
  filesLike: (pattern) => (pattern.endsWith('/*.patch') ? Object.keys(texts) : []),
};
const here = (command: string, text: string): string => `${command} <<'E'\n${text}E`;

const verdict = async (command: string, ...denied: readonly string[]): Promise<string> => {
  const when = (value: string) => [{ op: 'command_path', value }];
  const rules = denied.map((value) => ({ tools: 'local_shell', action: 'deny', when: when(value) }));
  const policy = await load({ default_action: 'allow', rules });
  const call = { tools: 'local_shell', tool: 'local_shell', args: { command } };
  const { action, detail } = judge(policy, call, plainHost, host);
  return action === 'allow' ? action : `${action} ${detail}`;
};

describe('a patch', () => {
  it.each([
    here('git apply', of('.env')),
    here('git apply -', of('.env')),
    here('git -C . apply --index', of('.env')),
    here('git apply -p0', '--- .env\n+++ .env\n'),
    here('git apply -p2', '--- x/y/.env\t2020-01-01\n+++ x/y/.env\t2020-01-01\n'),
    here('git am', of('.env')),
    here('patch -p1', of('.env')),
    here('patch', '--- q/.env\n+++ q/.env\n'),
    here('patch', 'Index: .env\n====\n'),
    here('patch -Np0', '*** .env\n--- .env\n'),
    here('apply_patch', '*** Begin Patch\n*** Update File: .env\n'),
    `${here('cat > p.diff', of('.env'))}\npatch -p1 < p.diff`,
    `printf '${of('.env').replaceAll('\n', '\\n')}' | git apply`,
    'git apply bad.patch',
    'git apply good.patch bad.patch',
    'git apply < bad.patch',
    'cat good.patch bad.patch | git apply -3',
    'cd src && git apply ../bad.patch',
    'cd . && git am *.patch',
    'patch -p1 -i bad.patch',
    'patch -p1 --input=bad.patch',
    'git apply quoted.patch',
    'git apply moved.patch',
    'git apply mode.patch',
  ])('is denied that changes what a rule denies: %s', async (line) => {
    expect(await verdict(line, '**/.env')).toMatch(/^deny path \S*\.env matches \*\*\/\.env$/);
  });

  it.each([
    here('git apply', of('src/a.ts')),
    here('patch src/a.ts', of('.env')),
    `${here('cat > p.diff', of('src/a.ts'))}\ngit apply p.diff`,
    'git apply good.patch',
    'patch -p1 < good.patch',
    'cat good.patch | patch -p1',
    'git apply --check bad.patch',
    'git apply --stat bad.patch',
    'git apply --cached bad.patch',
    'git am --abort',
    'patch --dry-run -p1 < bad.patch',
  ])('is let be that changes something else, or is only looked at: %s', async (line) => {
    expect(await verdict(line, '**/.env')).toBe('allow');
  });

  it('is read with as many directories taken away as its options say', async () => {
    const text = '--- x/src/a.ts\n+++ x/src/a.ts\n';
    expect(await verdict(here('patch -Np1', text), 'src/a.ts')).toBe('deny path src/a.ts matches src/a.ts');
    expect(await verdict(here('patch -p2', text), 'a.ts')).toBe('deny path a.ts matches a.ts');
    expect(await verdict(here('patch -d lib --strip=2', text), 'lib/a.ts')).toBe('deny path lib/a.ts matches lib/a.ts');
    expect(await verdict(here('patch -p1', text), 'a.ts')).toBe('allow');
  });

  it.each([
    'git apply none.patch',
    'git apply mail.patch',
    'git diff HEAD~1 | git apply -R',
    'curl https://x.test | patch -p1',
    'curl -o p.diff https://x.test; git apply p.diff',
    'git apply "$P"',
  ])('is asked about that nobody sees, where it may change what a rule denies: %s', async (line) => {
    expect(await verdict(line, '**/.env')).toMatch(
      /a name in the patch of (git|patch) may be \/srv\/p\/\.env, which matches/,
    );
    expect(await verdict(line, '**/.other')).toBe('allow');
  });

  it.each([
    [here('git apply', of('.vscode/tasks.json')), 'protected path: .vscode/tasks.json'],
    [here('git apply', of('.reins/hitl-policy.json')), 'control plane: .reins/hitl-policy.json'],
    [here('patch -p0', '--- .git/hooks/x\n+++ .git/hooks/x\n'), 'protected path: .git/hooks/x'],
    [here('patch -d .git/hooks', '--- x\n+++ x\n'), 'protected path: .git/hooks'],
  ])('is asked about without any rule, like a write to that place: %s', async (line, why) => {
    expect(await verdict(line)).toBe(`approve ${why}`);
  });
});
