import type { CommandWord } from '../schema/command.ts';
import { type CodeLines, linesInCode, scriptsOf, takesScripts } from './code-lines.ts';
import { filesWritten } from './files-written.ts';
import { isGitConfig, linesOfConfig } from './git-lines.ts';
import { importedNames, isModule, modulesOf, stemOf } from './modules.ts';
import { codeLines, type Payload } from './payload.ts';
import { baseName, isInterpreter, shells } from './programs.ts';
import { type ProjectFiles, projectFiles } from './project-files.ts';
import { callsIn } from './spawn-calls.ts';
import { literalWord } from './words.ts';

/** Stands for the program that makes others, where a script names its own. */
const builder = 'built-by-this-line';

/** What a line puts into a file: texts that it may hold, and whether it may hold others. */
type Held = { readonly texts: readonly string[]; readonly open: boolean };

/** Most texts of one file that are kept, and their length together. */
const maxTexts = 64;
const maxHeld = 262_144;

/** The last ones that are no more than are kept. */
function latest(texts: readonly string[]): readonly string[] {
  let left = maxHeld;
  const from = texts.findLastIndex((text) => {
    left -= text.length;
    return left < 0;
  });
  return texts.slice(Math.max(from + 1, texts.length - maxTexts));
}

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
    // What `find` or `xargs` puts in its place may be any of them.
    for (const one of words[0]?.filled === true ? [...files.values()] : [held]) run(path, one, around);
  };

  const run = (path: string, held: Held | null, around: Around): void => {
    if (held === null || running.has(held)) return;
    running.add(held);
    if (held.open) unnamed(`what ${path} holds is written by another command`);
    for (const text of held.texts) for (const payload of payloadsIn(text)) reveal(payload, path, around);
    running.delete(held);
  };

  const add = (path: string, more: readonly string[], open: boolean): void => {
    const before = heldIn(path) ?? { texts: [], open: false };
    const all = [...new Set([...before.texts, ...more])];
    const texts = latest(all);
    const after = { texts, open: before.open || open || texts.length < all.length };
    // What changes nothing is no reason to read a script again.
    const same =
      after.open === before.open && texts.length === before.texts.length && texts.at(-1) === before.texts.at(-1);
    if (!same || !files.has(baseName(path))) files.set(baseName(path), after);
  };

  /** What it holds from here on besides what it held. */
  const put = (path: string, texts: readonly string[]): void => {
    const known = texts.filter((text) => !isProgram(text));
    const last = heldIn(path)?.texts.at(-1);
    // What is put behind a text makes another one of it; a file that is put behind itself would soon fill the memory.
    const grown = last === undefined ? [] : known.filter((text) => last.length + text.length <= maxHeld);
    const tooLong = last !== undefined && grown.length < known.length;
    add(path, [...known, ...grown.map((text) => `${last}${text}`)], tooLong || known.length < texts.length);
  };

  /** Modules that a line has written, by their names in code that it starts, and in one another. */
  const imported = (code: readonly string[], name: string): readonly { text: string; lines: CodeLines }[] => {
    const left = new Map(
      [...files].flatMap(([file, held]) => (isModule(file) ? [[stemOf(file), { file, held }] as const] : [])),
    );
    const texts = left.size === 0 ? [] : [...code];
    const found: string[] = [];
    for (let at = 0; at < texts.length; at += 1) {
      for (const stem of importedNames(texts[at] ?? '')) {
        const one = left.get(stem);
        if (one === undefined || !left.delete(stem)) continue;
        if (one.held.open) unnamed(`what ${one.file} holds is written by another command`);
        texts.push(...one.held.texts);
        found.push(...one.held.texts);
      }
    }
    return found.map((text) => ({ text, lines: linesInCode(name, text) }));
  };

  /** What a command looks for by name or takes behind an option, and what its words or one of those name in turn. */
  const projectCode = (
    project: ProjectFiles,
    said: readonly string[],
  ): readonly { readonly text: string; readonly lines: CodeLines }[] => {
    const left = new Map(files);
    const reached: (readonly [string, Held])[] = [];
    const reach = (isRead: (file: string) => boolean): void => {
      for (const one of left) {
        if (!isRead(one[0])) continue;
        left.delete(one[0]);
        reached.push(one);
      }
    };
    reach((file) => project.reads(file));
    reach(project.naming(said));
    const found: { readonly text: string; readonly lines: CodeLines }[] = [];
    for (const [file, held] of reached) {
      if (held.open) unnamed(`what ${file} holds is written by another command`);
      found.push(...held.texts.map((text) => ({ text, lines: project.lines(text) })));
      reach(project.naming(held.texts));
    }
    return found;
  };

  return {
    put,

    /** What a command puts into files by its words. */
    wrote(words: readonly CommandWord[], input: readonly string[]): void {
      for (const { path, given } of filesWritten(words)) {
        if (given === 'input') put(path, input);
        else if (given === 'unseen') add(path, [], true);
        else if (given.kind === 'text') put(path, [given.text]);
        else {
          const made = given.kind === 'built' ? asSource : (text: string): string => text;
          const known = input.filter((text) => !isProgram(text));
          const reads = /^(?:-|\/dev\/(?:stdin|fd\/0))$/.test(given.path);
          const held = reads ? { texts: known, open: known.length < input.length } : heldIn(given.path);
          // It takes the place of what was there: nothing is put behind it.
          if (held !== null) add(path, held.texts.map(made), held.open);
        }
      }
    },

    /** A word that stands for a file, and what is printed into it. */
    printed(word: string, texts: readonly string[]): void {
      if (heldIn(word) === null) put(word, texts);
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

    /** The code that a command finds in such files, by its words or by what it reads, and what that starts. */
    code(
      words: readonly CommandWord[],
      input: readonly string[],
    ): readonly { readonly text: string; readonly lines: CodeLines }[] {
      if (files.size === 0) return [];
      const name = baseName(words[0]?.text ?? '');
      const rest = words.slice(1);
      const said = [...rest.map(({ text }) => text), rest.map(({ text }) => text).join(' '), ...input];
      const found = projectFiles(words).flatMap((project) => projectCode(project, said));
      if (!(isInterpreter(name) || takesScripts(name)) || shells.has(name)) return found;
      const scripts = takesScripts(name) ? scriptsOf(rest) : [...rest, ...modulesOf(rest)];
      const script = scripts.find(({ text }) => !text.startsWith('-'));
      const named = scripts.flatMap((word) => {
        const held = heldIn(word.text);
        if (held?.open === true && word === script) unnamed(`what ${word.text} holds is written by another command`);
        return (held?.texts ?? []).map((text) => ({ text, lines: linesInCode(name, text) }));
      });
      const known = [...found, ...named].map(({ text }) => text);
      return [...found, ...named, ...imported([...said, ...known], name)];
    },
  };
}

/** What a program is made of is read as a script for the one that made it. */
const asSource = (text: string): string => (text.startsWith('#!') ? text : `#!${builder}\n${text}`);

/** The lines of a script; of one for another interpreter what its code spells out. */
function payloadsIn(text: string): readonly Payload[] {
  if (isGitConfig(text)) return linesOfConfig(text).map((word) => ({ kind: 'guess', words: [word] }));
  const program = /^#!\s*(?:\S*\/)?(?:env\s+(?:-S\s+)?)?(\S+)/.exec(text)?.[1];
  const interpreter = program === undefined ? null : baseName(program);
  if (interpreter === builder) return codeLines({ lines: callsIn(text), guessed: true, unnamed: null });
  if (interpreter === null || shells.has(interpreter)) return [{ kind: 'line', words: [literalWord(text)] }];
  return codeLines(linesInCode(interpreter, text));
}
