import { describe, expect, it } from 'vitest';
import { judge, load, plainHost } from './virtual-host.ts';

/** The directory of a shell call as a rule sees it (05 §3.1): named from the root, wherever the call itself is. */
async function verdict(action: string, op: string, value: string, cwd: string, at: string): Promise<string> {
  const rule = { tools: 'local_shell', action, when: [{ key: 'cwd', op, value }] };
  const policy = await load({ default_action: action === 'deny' ? 'allow' : 'deny', rules: [rule] });
  const call = { tools: 'local_shell', tool: 'local_shell', args: { command: 'ls', cwd } };
  return judge(policy, call, plainHost, { cwd: at }).action;
}

describe('a condition on the directory of a shell call', () => {
  it.each([
    ['glob', 'private', 'private', '/srv/p/private'],
    ['glob', 'private', './private/', '/srv/p/private'],
    ['glob', 'private', '../p/private', '/srv/p/private'],
    ['glob', '/srv/p/private', '/srv/p/private', '/srv/p/private'],
    ['glob', 'private', 'link', '/srv/p/private'],
    ['path_within', 'private', '../p/private', '/srv/p/private'],
    ['path_within', 'private', 'a/../private/b', '/srv/p/private/b'],
    ['path_within', '~/x', '~/x', '/home/u/x'],
  ])('holds: %s %s of %s', async (op, value, cwd, at) => {
    expect(await verdict('deny', op, value, cwd, at)).toBe('deny');
    // Under its own name and under that of the place: a link grants nothing.
    expect(await verdict('approve', op, value, cwd, at)).toBe('approve');
  });

  it.each([
    ['glob', 'private', 'private/private', '/srv/p/private/private'],
    ['path_within', 'private', 'other', '/srv/p/other'],
    ['path_within', 'private', 'privat', '/srv/p/privat'],
  ])('does not hold: %s %s of %s', async (op, value, cwd, at) => {
    expect(await verdict('deny', op, value, cwd, at)).toBe('allow');
  });

  it('grants nothing by a link', async () => {
    expect(await verdict('allow', 'path_within', 'src', 'src/a', '/srv/p/src/a')).toBe('allow');
    expect(await verdict('allow', 'path_within', 'src', 'src/link', '/srv/p/other')).toBe('deny');
    expect(await verdict('allow', 'path_within', 'src', 'link', '/srv/p/src')).toBe('deny');
  });
});
