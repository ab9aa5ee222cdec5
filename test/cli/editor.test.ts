import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type EditPlace, editText } from '../../src/cli/editor.ts';

/** The place of an editor in this process. */
const place = (environment: EditPlace['environment']): EditPlace => ({
  environment,
  onSignal: (signal, listener) => {
    process.on(signal, listener);
    return () => process.off(signal, listener);
  },
});

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
  const edited = await editText(place(environment), 'message.md', 'draft');
  expect(edited).toEqual({ kind: 'saved', text: '--wait||;touch|' });
});

test('an editor that is not there is named, with what to set', async () => {
  const edited = await editText(place({ VISUAL: ' ', EDITOR: '/nowhere/ed -w' }), 'message.md', 'draft');
  expect(edited).toEqual({
    kind: 'failed',
    message: 'the editor "/nowhere/ed" cannot be started (ENOENT): set VISUAL or EDITOR',
  });
});

test('a temporary directory that is not there is said, and no fault', async () => {
  vi.stubEnv('TMPDIR', '/nowhere');
  const edited = await editText(place({ VISUAL: 'true' }), 'message.md', 'draft').finally(() => vi.unstubAllEnvs());
  expect(edited).toMatchObject({
    kind: 'failed',
    message: expect.stringMatching(/^no file can be made for the editor: ENOENT: .*'\/nowhere\/reins-edit-/),
  });
});

test.each([
  ['a key ended', '0.2', 'kill -INT $$', 'SIGINT'],
  ['ended itself at a key', '0.05', 'exit 1', '1'],
])('an editor that %s is over once the signal of that key has come, too', async (_what, later, end, how) => {
  const path = join(directory, 'ed');
  // The key reaches the editor first; the process behind it when it is there to be heard.
  writeFileSync(path, `#!/bin/sh\n(sleep ${later}; kill -INT ${process.pid}) &\n${end}\n`);
  chmodSync(path, 0o700);
  const order: string[] = [];
  const heard = () => void order.push('signal');
  process.on('SIGINT', heard);
  const edited = await editText(place({ VISUAL: path }), 'message.md', 'draft').finally(() =>
    process.off('SIGINT', heard),
  );
  order.push('ended');
  expect(edited).toEqual({ kind: 'failed', message: `the editor ended with ${how}; nothing was changed` });
  expect(order).toEqual(['signal', 'ended']);
});

test.each(['SIGTERM', 'SIGHUP'] as const)(
  'an editor ends with the program that started it, on %s, and leaves no file',
  async (signal) => {
    const path = join(directory, 'ed');
    writeFileSync(
      path,
      `#!/bin/sh\necho "$1" > ${directory}/named\nkill -${signal.slice(3)} ${process.pid}\nexec sleep 30\n`,
    );
    chmodSync(path, 0o700);
    // Somebody listens, as everybody does who lends the terminal: else this process would end.
    const heard = () => undefined;
    process.on(signal, heard);
    const edited = await editText(place({ VISUAL: path }), 'message.md', 'draft').finally(() =>
      process.off(signal, heard),
    );
    expect(edited).toEqual({ kind: 'failed', message: `the editor ended with ${signal}; nothing was changed` });
    expect(existsSync(dirname(readFileSync(join(directory, 'named'), 'utf8').trim()))).toBe(false);
  },
);

const windowed = 'nothing was changed; an editor with a window of its own must wait (code --wait)';
test.each([
  ['saves nothing', 'exit 0', windowed],
  ['leaves the file as it is and goes on in a window', '(sleep 5; echo late > "$1") >/dev/null 2>&1 &', windowed],
  ['deletes the file', 'rm "$1"', 'the editor left no file; nothing was changed'],
  ['deletes the directory', 'rm -r "$(dirname "$1")"', 'the editor left no file; nothing was changed'],
  [
    'leaves something that would be read for ever',
    'rm "$1"; mkfifo "$1"',
    'the editor left no file; nothing was changed',
  ],
  ['saves bytes that are no text', 'printf \'a\\377b\' > "$1"', 'what was saved is no UTF-8 text; nothing was changed'],
  ['is killed', 'echo half > "$1"; kill -9 $$', 'the editor ended with SIGKILL; nothing was changed'],
])('an editor that %s changes nothing, and that is said', async (_what, lines, message) => {
  const path = join(directory, 'ed');
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o700);
  expect(await editText(place({ ...process.env, VISUAL: path }), 'message.md', 'draft')).toEqual({
    kind: 'failed',
    message,
  });
});

test.each([
  ['puts another file in its place', `printf 'new' > "$1.new"; mv "$1.new" "$1"`],
  ['begins it with a mark of its encoding', `printf '\\357\\273\\277new' > "$1"`],
])('an editor that %s has saved', async (_what, lines) => {
  const path = join(directory, 'ed');
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o700);
  const edited = await editText(place({ ...process.env, VISUAL: path }), 'message.md', 'draft');
  expect(edited).toEqual({ kind: 'saved', text: 'new' });
});

test('an editor that ended itself keeps nobody waiting', async () => {
  const path = join(directory, 'ed');
  writeFileSync(path, '#!/bin/sh\nkill -INT $$\n');
  chmodSync(path, 0o700);
  const before = process.listenerCount('SIGINT');
  const edited = await editText(place({ VISUAL: path }), 'message.md', 'draft');
  expect(edited).toMatchObject({ kind: 'failed', message: 'the editor ended with SIGINT; nothing was changed' });
  expect(process.listenerCount('SIGINT')).toBe(before);
});
