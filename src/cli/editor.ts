import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './globals.ts';

/** What came of an edit: the text as it was saved, or why there is none. */
export type Edited =
  | { readonly kind: 'saved'; readonly text: string }
  | { readonly kind: 'failed'; readonly message: string };

const maxBytes = 4 * 1024 * 1024;

const failed = (message: string): Edited => ({ kind: 'failed', message });

/**
 * Lets a person edit a text in $VISUAL, else $EDITOR, on the terminal of this program. The file is in a directory that
 * nobody else may enter, and is gone when this resolves. Never rejects for what the editor or the person does.
 */
export async function editText(environment: Environment, name: string, text: string): Promise<Edited> {
  const editor = [environment['VISUAL'], environment['EDITOR']].find((one) => one !== undefined && one.trim() !== '');
  if (editor === undefined) return failed('no editor is known: set VISUAL or EDITOR');
  const directory = mkdtempSync(join(tmpdir(), 'reins-edit-'));
  const path = join(directory, name);
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    const ended = await run(editor, path, environment);
    if (ended !== null) return failed(`the editor ${ended}`);
    if (statSync(path).size > maxBytes) return failed(`the file has more than ${maxBytes} bytes`);
    return { kind: 'saved', text: readFileSync(path, 'utf8') };
  } catch (error) {
    return failed(`the edited file cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Editors are named with their options, as a shell reads them. @returns null when it ended well, else how it ended */
const run = (editor: string, path: string, environment: Environment): Promise<string | null> =>
  new Promise((settle) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', path], { stdio: 'inherit', env: { ...environment } });
    child.on('error', (error) => settle(`cannot be started: ${error.message}`));
    child.on('close', (code, signal) =>
      settle(code === 0 ? null : `ended with ${signal ?? code ?? 'an unknown code'}`),
    );
  });
