import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { editText } from '../../src/cli/editor.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reins-editor-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('an editor is a program with options, quoted where they hold blanks, and no line of a shell', async () => {
  mkdirSync(join(directory, 'my editor'));
  const path = join(directory, 'my editor', 'ed');
  writeFileSync(path, '#!/bin/sh\nprintf "%s|" "$1" "$2" "$3" > "$4"\n');
  chmodSync(path, 0o700);
  const environment = { VISUAL: `"${path}" --wait '' ;touch`, EDITOR: 'false' };
  const edited = await editText(environment, 'message.md', 'draft');
  expect(edited).toEqual({ kind: 'saved', text: '--wait||;touch|' });
});

test('an editor that is not there is named, with what to set', async () => {
  const edited = await editText({ VISUAL: ' ', EDITOR: '/nowhere/ed -w' }, 'message.md', 'draft');
  expect(edited).toEqual({
    kind: 'failed',
    message: 'the editor "/nowhere/ed" cannot be started (ENOENT): set VISUAL or EDITOR',
  });
});

test('a temporary directory that is not there is said, and no fault', async () => {
  vi.stubEnv('TMPDIR', '/nowhere');
  const edited = await editText({ VISUAL: 'true' }, 'message.md', 'draft').finally(() => vi.unstubAllEnvs());
  expect(edited).toMatchObject({
    kind: 'failed',
    message: expect.stringMatching(/^no file can be made for the editor: ENOENT: .*'\/nowhere\/reins-edit-/),
  });
});
