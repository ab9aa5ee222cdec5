import { spawn } from 'node:child_process';
import { lstatSync, mkdtempSync, readFileSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf, messageOf } from '../text/thrown.ts';
import type { Process, Signal } from './process.ts';
import { withSearchPath } from '../text/search-path.ts';

/** What came of an edit: the text as it was saved, or why there is none. */
export type Edited =
  | { readonly kind: 'saved'; readonly text: string }
  | { readonly kind: 'failed'; readonly message: string };

/** The process whose terminal the editor gets. */
export type EditPlace = Pick<Process, 'environment' | 'onSignal'>;

const maxBytes = 4 * 1024 * 1024;

const failed = (message: string): Edited => ({ kind: 'failed', message });

/**
 * Lets a person edit a text in $VISUAL, else $EDITOR, on the terminal of this program. The file is in a directory that
 * nobody else may enter, and is gone when this resolves. Never rejects for what the editor or the person does.
 */
export async function editText(place: EditPlace, name: string, text: string): Promise<Edited> {
  const { environment } = place;
  const editor = [environment['VISUAL'], environment['EDITOR']].find((one) => one !== undefined && one.trim() !== '');
  if (editor === undefined) return failed('no editor is known: set VISUAL or EDITOR');
  let directory = '';
  let path = '';
  let given: Stats;
  try {
    directory = mkdtempSync(join(tmpdir(), 'reins-edit-'));
    path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    given = lstatSync(path);
  } catch (error) {
    if (directory !== '') remove(directory);
    return failed(`no file can be made for the editor: ${messageOf(error)}`);
  }
  try {
    const ended = await run(editor, path, place, () => remove(directory));
    if (ended !== null) return failed(ended);
    const left = lstatSync(path, { throwIfNoEntry: false });
    // Reading something else could wait for ever.
    if (left?.isFile() !== true) return failed('the editor left no file; nothing was changed');
    if (left.size > maxBytes) return failed(`the file has more than ${maxBytes} bytes`);
    const saved = textOf(readFileSync(path));
    if (saved === text && isUntouched(given, left)) return failed(nothingChanged);
    return saved === null
      ? failed('what was saved is no UTF-8 text; nothing was changed')
      : { kind: 'saved', text: saved };
  } catch (error) {
    return failed(`the edited file cannot be read: ${messageOf(error)}`);
  } finally {
    remove(directory);
  }
}

const remove = (directory: string): void => rmSync(directory, { recursive: true, force: true });

/** What an editor saves in a window of its own after it has returned is read by nobody: its file is gone by then. */
const nothingChanged = 'nothing was changed; an editor with a window of its own must wait (code --wait)';

const isUntouched = (given: Stats, left: Stats): boolean =>
  left.ino === given.ino && left.size === given.size && left.mtimeMs === given.mtimeMs;

/** Without the mark that some editors begin a file with; null for what would be another text than was saved. */
function textOf(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** How long the end of an editor by a key waits for the signal of that key to reach this process, ms. */
const sameKeyMs = 1000;
/** The same for an editor that failed in a way of its own, which it may have done on a key (`trap 'exit 1' INT`), ms. */
const anyKeyMs = 250;

/** Signals that a key sends to everybody in the foreground, and what a shell says of an end by one. */
const ofKeys: ReadonlyMap<string | number, Signal> = new Map<string | number, Signal>([
  ['SIGINT', 'SIGINT'],
  [130, 'SIGINT'],
  ['SIGQUIT', 'SIGQUIT'],
  [131, 'SIGQUIT'],
]);

/** What ends this process: an editor that stayed would fight with a shell for the keys. */
const ending = ['SIGTERM', 'SIGHUP'] as const;

/**
 * Without a shell, so that nothing in the name is run beside it.
 * @param leaving takes the file away: this process is about to end
 * @returns null when it ended well, else what is wrong
 */
const run = (
  editor: string,
  path: string,
  { environment, onSignal }: EditPlace,
  leaving: () => void,
): Promise<string | null> =>
  new Promise((settle) => {
    const [file = '', ...args] = wordsOf(editor);
    const heard = hearKeys(onSignal);
    const child = spawn(file, [...args, path], { stdio: 'inherit', env: withSearchPath(environment) });
    const passed = ending.map((signal) =>
      onSignal(signal, () => {
        child.kill(signal);
        leaving();
      }),
    );
    const over = (): void => {
      for (const ignore of passed) ignore();
      heard.stop();
    };
    child.on('error', (error) => {
      over();
      settle(`the editor "${file}" cannot be started (${codeOf(error) ?? error.message}): set VISUAL or EDITOR`);
    });
    child.on('close', async (code, signal) => {
      // Its key is ours as well, and may come later: while the terminal is lent, it means nothing to us.
      if (code !== 0) await heard.until(ofKeys.get(signal ?? code ?? 0));
      over();
      settle(code === 0 ? null : `the editor ended with ${signal ?? code ?? 'an unknown code'}; nothing was changed`);
    });
  });

/** Listens to the signals of keys. `until` resolves once this one, or any, has come, and after a while without it. */
function hearKeys(onSignal: Process['onSignal']): { until(signal: Signal | undefined): Promise<void>; stop(): void } {
  const seen = new Set<Signal>();
  const hasCome = (signal: Signal | undefined): boolean => (signal === undefined ? seen.size > 0 : seen.has(signal));
  let told = (): void => undefined;
  const listeners = [...new Set(ofKeys.values())].map((signal) =>
    onSignal(signal, () => {
      seen.add(signal);
      told();
    }),
  );
  return {
    until: (signal) =>
      new Promise((resolve) => {
        if (hasCome(signal)) return resolve();
        const late = setTimeout(resolve, signal === undefined ? anyKeyMs : sameKeyMs);
        told = () => {
          if (!hasCome(signal)) return;
          clearTimeout(late);
          resolve();
        };
      }),
    stop: () => {
      for (const ignore of listeners) ignore();
    },
  };
}

/** A program and its options, each a word or quoted: `code --wait`, `"/opt/my editor/bin" -a ''`. */
const wordsOf = (editor: string): readonly string[] =>
  Array.from(editor.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"']+|["'])+/g), ([word]) =>
    word.replace(
      /"([^"]*)"|'([^']*)'/g,
      (_quoted, double: string | undefined, single: string | undefined) => double ?? single ?? '',
    ),
  );
