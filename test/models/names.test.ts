import { describe, expect, it } from 'vitest';
import { wireNames } from '../../src/models/names.ts';
import type { ToolSpec } from '../../src/schema/message.ts';

const tool = (name: string): ToolSpec => {
  const [tools = '', ...rest] = name.split('.');
  return { tools, tool: rest.join('.'), description: '', input_schema: {}, read_only: true };
};
const wireOf = async (...names: readonly string[]): Promise<readonly string[]> => {
  const map = await wireNames(names.map(tool));
  const wire = names.map((name) => map.toWire(name));
  expect(wire.map((name) => map.toEngine(name))).toEqual(names);
  return wire;
};

describe('tool names on the wire (05 §1.2, 08 §10)', () => {
  it.each([
    ['local_fs.read_file', 'local_fs_read_file'],
    ['my hook.get/pets', 'my_hook_get_pets'],
    ['größe.x', 'gr__e_x'],
    ['a.😀', 'a__'],
    ['3d.print', 't_3d_print'],
    ['-x.y', 't_-x_y'],
  ])('writes %s as %s', async (engine, wire) => {
    expect(await wireOf(engine)).toEqual([wire]);
  });

  it('cuts a long name to 64 characters that hold its hash', async () => {
    const engine = `${'a'.repeat(45)}.${'b'.repeat(44)}`;
    expect(await wireOf(engine)).toEqual([`${'a'.repeat(45)}_${'b'.repeat(9)}_6060b5ef`]);
  });

  it('keeps a long name that needs the prefix within 64 characters', async () => {
    const [wire] = await wireOf(`7${'a'.repeat(61)}.b`);
    expect(wire).toHaveLength(64);
    expect(wire).toMatch(/^t_7a{52}_[0-9a-f]{8}$/);
  });

  it('tells apart names that become equal, the same in either order', async () => {
    expect(await wireOf('x.a_b', 'x.a.b')).toEqual(['x_a_b_8871', 'x_a_b_288d']);
    expect(await wireOf('x.a.b', 'x.a_b')).toEqual(['x_a_b_288d', 'x_a_b_8871']);
  });

  it('writes a name of the history that is not offered with the same rule', async () => {
    const map = await wireNames([tool('a.b')]);
    expect(map.toWire('old.tool')).toBe('old_tool');
    expect(map.toEngine('old_tool')).toBe('old_tool');
  });

  it('writes no empty name, which every service would refuse with all that comes behind it', async () => {
    expect((await wireNames([])).toWire('')).toBe('unnamed');
  });

  it('gives back a name that was never offered', async () => {
    expect((await wireNames([])).toEngine('whatever.it is')).toBe('whatever.it is');
  });
});
