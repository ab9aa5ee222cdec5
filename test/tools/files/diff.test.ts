import { expect, it } from 'vitest';
import { diffOf } from '../../../src/tools/files/diff.ts';

it('names a file outside the workspace by its whole path', async () => {
  expect(await diffOf('/srv/other/a.txt', null, Buffer.from('x\n'))).toEqual({
    diff: '--- /dev/null\n+++ b/srv/other/a.txt\n@@ -0,0 +1,1 @@\n+x\n',
  });
});
