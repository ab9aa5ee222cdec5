import type { CommandWord } from '../schema/command.ts';
import { baseName } from './programs.ts';

/** Programs that put what they fetch or decode into the file of such an option. */
const fetchers: ReadonlySet<string> = new Set('curl wget aria2c dd base64 openssl xxd uudecode gpg'.split(' '));
const output = /^(?:-[A-Za-z]*[oO]|--out(?:put)?(?:-document)?|--dir)$/;
const attached = /^(?:of=|--out(?:put)?(?:-document)?=|-[oO](?=[^-]))(.+)$/;

/** What a line puts into a file: texts that it may hold, and whether it may hold others. */
export type Held = { readonly texts: readonly string[]; readonly open: boolean };

/**
 * Files that a line writes itself: a script among them is as much in the line as one behind `-c`. A name counts wherever
 * its directory is.
 */
export function createScriptFiles() {
  const files = new Map<string, Held>();

  return {
    /** @param texts what it may hold from here on, or holds besides; what no line shows is none of them */
    put(path: string, texts: readonly string[], open: boolean): void {
      const name = baseName(path);
      const before = files.get(name) ?? { texts: [], open: false };
      // What is put behind a text makes another one of it.
      const longer = before.texts.slice(-1).flatMap((text) => texts.map((more) => text + more));
      files.set(name, {
        texts: [...new Set([...before.texts, ...texts, ...longer])].slice(-maxTexts),
        open: before.open || open || before.texts.length + texts.length + longer.length > maxTexts,
      });
    },
    /** What the line has put into such a file so far; null where it did not write it. */
    held: (path: string): Held | null => files.get(baseName(path)) ?? null,
    names: (): readonly string[] => [...files.keys()],
  };
}

/** Most texts of one file that are kept. */
const maxTexts = 64;

/** Files that a command writes by its words, and whether it writes what it reads. */
export function filesWritten(words: readonly CommandWord[]): {
  readonly paths: readonly string[];
  readonly reads: boolean;
} {
  const [program, ...rest] = words;
  const name = baseName(program?.text ?? '');
  if (name === 'tee' || name === 'sponge') {
    return { paths: rest.filter(({ text }) => !text.startsWith('-')).map(({ text }) => text), reads: true };
  }
  if (!fetchers.has(name)) return { paths: [], reads: false };
  const paths = rest.flatMap(({ text }, index) => [
    ...(output.test(rest[index - 1]?.text ?? '') ? [text] : []),
    ...(attached.exec(text)?.slice(1) ?? []),
  ]);
  return { paths, reads: false };
}
