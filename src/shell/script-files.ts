import type { CommandWord } from '../schema/command.ts';
import { linesInCode, scriptsOf, takesScripts } from './code-lines.ts';
import { codeLines, type Payload } from './payload.ts';
import { baseName, isInterpreter, shells } from './programs.ts';
import { literalWord } from './words.ts';

/** Programs that put what they fetch or decode into the file of such an option. */
const fetchers: ReadonlySet<string> = new Set('curl wget aria2c dd base64 openssl xxd uudecode gpg'.split(' '));
const output = /^(?:-[A-Za-z]*[oO]|--out(?:put)?(?:-document)?|--dir)$/;
const attached = /^(?:of=|--out(?:put)?(?:-document)?=|-[oO](?=[^-]))(.+)$/;

const makes: ReadonlySet<string> = new Set('make gmake bmake'.split(' '));
const makefiles = ['GNUmakefile', 'makefile', 'Makefile'];

/** The files that `make` reads: those behind `-f`, else what it finds under a name of its own. */
function makefilesOf(rest: readonly CommandWord[]): readonly CommandWord[] {
  const given = rest.flatMap(({ text }, index): readonly CommandWord[] => {
    const option = /^(?:-[A-Za-z]*f|--(?:make)?file=?)/.exec(text)?.[0];
    if (option === undefined) return [];
    return option === text ? rest.slice(index + 1, index + 2) : [literalWord(text.slice(option.length))];
  });
  return given.length > 0 ? given : makefiles.map(literalWord);
}

/** What a line puts into a file: texts that it may hold, and whether it may hold others. */
type Held = { readonly texts: readonly string[]; readonly open: boolean };

/** Most texts of one file that are kept. */
const maxTexts = 64;

export type ScriptFilesDeps<Around> = {
  /** Has something read that a script starts. */
  reveal(payload: Payload, path: string, around: Around): void;
  /** What is started is no literal: why. */
  unnamed(why: string): void;
  /** A text that stands for what a program makes, which no line shows. */
  isProgram(text: string): boolean;
};

/**
 * Files that a line writes itself: a script among them is as much in the line as one behind `-c`. A name counts wherever
 * its directory is.
 */
export function createScriptFiles<Around>({ reveal, unnamed, isProgram }: ScriptFilesDeps<Around>) {
  const files = new Map<string, Held>();
  /** Scripts that have been started, for a line in which they may be again. */
  const ran = new Map<string, { readonly words: readonly CommandWord[]; readonly around: Around; held: Held | null }>();
  /** Scripts that are being read: one may start itself. */
  const running = new Set<Held>();

  const heldIn = (path: string): Held | null => files.get(baseName(path)) ?? null;

  const start = (words: readonly CommandWord[], around: Around): void => {
    const path = words[0]?.text ?? '';
    const held = heldIn(path);
    ran.set(baseName(path), { words, around, held });
    if (held === null || running.has(held)) return;
    running.add(held);
    if (held.open) unnamed(`what ${path} holds is written by another command`);
    for (const text of held.texts) for (const payload of payloadsIn(text)) reveal(payload, path, around);
    running.delete(held);
  };

  return {
    /** What it holds from here on besides what it held. */
    put(path: string, texts: readonly string[]): void {
      const known = texts.filter((text) => !isProgram(text));
      const before = heldIn(path) ?? { texts: [], open: false };
      // What is put behind a text makes another one of it.
      const longer = before.texts.slice(-1).flatMap((text) => known.map((more) => text + more));
      const all = [...new Set([...before.texts, ...known, ...longer])];
      files.set(baseName(path), {
        texts: all.slice(-maxTexts),
        open: before.open || known.length < texts.length || all.length > maxTexts,
      });
    },

    /** The script is started: it is read where the line has written it. */
    start,

    /** What was started may be started again, by what the line has written since. */
    startAgain(): void {
      for (const { words, around, held } of [...ran.values()]) {
        if (held !== heldIn(words[0]?.text ?? '')) start(words, around);
      }
    },

    /** What a shell reads from such a file; what no line shows stands for itself. */
    input(path: string, unknown: string): readonly string[] {
      const held = heldIn(path);
      return held === null ? [] : [...held.texts, ...(held.open ? [unknown] : [])];
    },

    /** The code that an interpreter, or `make`, finds in such files. */
    code(words: readonly CommandWord[]): readonly string[] {
      const name = baseName(words[0]?.text ?? '');
      const isMake = makes.has(name);
      if (files.size === 0 || !(isMake || isInterpreter(name) || takesScripts(name)) || shells.has(name)) return [];
      const rest = words.slice(1);
      const scripts = isMake ? makefilesOf(rest) : takesScripts(name) ? scriptsOf(rest) : rest;
      const script = scripts.find(({ text }) => !text.startsWith('-'));
      return scripts.flatMap((word) => {
        const held = heldIn(word.text);
        if (held?.open === true && (isMake || word === script))
          unnamed(`what ${word.text} holds is written by another command`);
        return held?.texts ?? [];
      });
    },
  };
}

/** The lines of a script; of one for another interpreter what its code spells out. */
function payloadsIn(text: string): readonly Payload[] {
  const program = /^#!\s*(?:\S*\/)?(?:env\s+(?:-S\s+)?)?(\S+)/.exec(text)?.[1];
  const interpreter = program === undefined ? null : baseName(program);
  if (interpreter === null || shells.has(interpreter)) return [{ kind: 'line', words: [literalWord(text)] }];
  return codeLines(linesInCode(interpreter, text));
}

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
