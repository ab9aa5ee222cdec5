import { describe, expect, it } from 'vitest';
import { compareStructure } from '../../src/trials/structure.ts';
import { load } from '../policy/virtual-host.ts';

const structure = async (a: object, b: object) => compareStructure((await load(a)).policy, (await load(b)).policy);
const rule = (tools: string, action = 'allow') => ({ tools, action });

describe('what changed between two documents', () => {
  it('is nothing where only notes and spelling differ', async () => {
    const a = { rules: [{ tools: 'echo', action: 'allow', when: [] }] };
    const b = { version: 1, default_action: 'approve', rules: [{ '//': 'why', tools: 'echo', action: 'allow' }] };
    expect(await structure(a, b)).toEqual({ blocks: [], removed: [], added: [], moved: [] });
  });

  it('names rules that came, went and moved, and blocks', async () => {
    const a = { rules: [rule('echo'), rule('web', 'deny'), rule('print'), rule('webhook')] };
    const b = { default_action: 'deny', rules: [rule('print'), rule('echo'), rule('web'), rule('webhook')] };
    expect(await structure(a, b)).toEqual({
      blocks: [{ block: 'default_action', a: 'approve', b: 'deny' }],
      removed: [{ index: 1, rule: { tools: 'web', action: 'deny' } }],
      added: [{ index: 2, rule: { tools: 'web', action: 'allow' } }],
      moved: [{ from: 0, to: 1 }],
    });
  });

  it('pairs equal rules one to one', async () => {
    const once = { rules: [rule('echo')] };
    const twice = { rules: [rule('echo'), rule('echo')] };
    expect((await structure(once, twice)).added).toEqual([{ index: 1, rule: { tools: 'echo', action: 'allow' } }]);
  });
});
