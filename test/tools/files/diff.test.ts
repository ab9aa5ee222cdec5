import { applyPatch } from 'diff';
import { expect, it } from 'vitest';
import { diffOf } from '../../../src/tools/files/diff.ts';

it('names a file outside the workspace by its whole path', async () => {
  expect(await diffOf('/srv/other/a.txt', null, Buffer.from('x\n'))).toEqual({
    diff: '--- /dev/null\n+++ b/srv/other/a.txt\n@@ -0,0 +1,1 @@\n+x\n',
  });
});

it('shows one changed line among very many, and changes every line when there are too many for a fine diff', async () => {
  const lines = Array.from({ length: 100_000 }, (_, line) => `${line + 1}\n`);
  const old = lines.join('');
  const before = { bytes: Buffer.from(old), sha256: '' };
  expect(await diffOf('f', before, Buffer.from(lines.with(50_000, 'x\n').join('')))).toEqual({
    diff: '--- a/f\n+++ b/f\n@@ -49998,7 +49998,7 @@\n 49998\n 49999\n 50000\n-50001\n+x\n 50002\n 50003\n 50004\n',
  });
  const many = `1\n${'cd\n'.repeat(50_000)}end`;
  const { diff = '', diff_note } = await diffOf('f', before, Buffer.from(many));
  expect([applyPatch(old, diff) === many, diff_note]).toEqual([true, undefined]);
});
