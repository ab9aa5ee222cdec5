import type { CommandWord } from '../schema/command.ts';
import { firstGroups } from '../text/first-groups.ts';
import { escapes, readsData } from './escapes.ts';
import { imageBuilders, runLines } from './image-files.ts';
import { decodeEscapes } from './printed.ts';
import { isInterpreter, shells } from './programs.ts';
import { readSed } from './sed-script.ts';
import { callsIn } from './spawn-calls.ts';
import { literalWord } from './words.ts';

/**
 * Lines that a program's own language hands to a shell, as far as it spells them out. Lists that tighten see them; what
 * code puts together stays unseen (02 §7.3).
 */
export type CodeLines = {
  readonly lines: readonly string[];
  /** What was found may be no line at all: only one that parses counts. */
  readonly guessed: boolean;
  /** Something is started, and the code does not spell it out: why. */
  readonly unnamed: string | null;
};

/** Most lines of one word that are looked at. */
const maxLines = 256;

const awks: ReadonlySet<string> = new Set('awk gawk mawk nawk original-awk goawk'.split(' '));
const awkText = /(?<!\\)"((?:[^"\\]|\\.)*)"/g;
/** What `system` is given, and what stands before or behind a pipe, by the numbers of the texts. */
const awkLine = /system\s*\(\s*"([0-9]+)"|\|&?\s*"([0-9]+)"|"([0-9]+)"\s*\|&?\s*getline/g;
/** The same with a name in place of a text. */
const awkOpen = /system\s*\(\s*[\w$(]|\bprintf?\b[^|/\n;}]{0,512}\|&?\s*[A-Za-z_$(]|[\w\])]\s*\|&?\s*getline\b/;
/** The same with no more than the begin of a program's name. */
const awkBegun = /system\s*\(\s*"[^"\s\\]{0,256}"\s*[^)\s]/;

const nothing: CodeLines = { lines: [], guessed: true, unnamed: null };

/** Of one word of a program, or of a text that it reads. */
export function linesInCode(name: string, text: string): CodeLines {
  if (awks.has(name)) return linesOfAwk(text);
  if (isSed(name)) return linesOfSed([literalWord('-e'), literalWord(text)]);
  if (imageBuilders.has(name)) return { ...nothing, lines: runLines(text) };
  if (Object.hasOwn(escapes, name)) {
    const own = (escapes[name] ?? []).flatMap((pattern) => firstGroups(pattern, text, maxLines));
    return { ...nothing, lines: [...own, ...callsIn(text)] };
  }
  return isInterpreter(name) && !shells.has(name) ? { ...nothing, lines: callsIn(text, name) } : nothing;
}

function linesOfAwk(script: string): CodeLines {
  const texts: string[] = [];
  const bare = script.replace(awkText, (_, text: string) => `"${texts.push(text) - 1}"`);
  const lines = firstGroups(awkLine, bare, maxLines).map((at) => decodeEscapes(texts[Number(at)] ?? ''));
  const open = awkOpen.test(bare) || awkBegun.test(script);
  return { lines, guessed: false, unnamed: open ? 'what awk starts is no literal' : null };
}

/** Whether what a program reads is code of its own, and not what it works on. */
export function readsCode(name: string, rest: readonly CommandWord[]): boolean {
  if (takesScripts(name)) return scriptsOf(rest).some(({ text }) => /^(?:-|\/dev\/(?:stdin|fd\/0))$/.test(text));
  // They take the file that they build from, and what is to be unpacked.
  if (imageBuilders.has(name)) return rest.some(({ text }) => text === '-');
  return Object.hasOwn(escapes, name) ? !readsData.has(name) : isInterpreter(name) && !shells.has(name);
}

const isSed = (name: string): boolean => name === 'sed' || name === 'gsed';

/** Programs whose operands are data, and whose scripts stand behind an option. */
export const takesScripts = (name: string): boolean => awks.has(name) || isSed(name);

/** The files behind `-f`. */
export const scriptsOf = (rest: readonly CommandWord[]): readonly CommandWord[] =>
  rest.flatMap((word, index): readonly CommandWord[] => {
    const option = /^(?:-[nrEsuz]*f|--fi(?:le?)?=?)/.exec(word.text)?.[0];
    if (option === undefined) return [];
    return option === word.text ? rest.slice(index + 1, index + 2) : [literalWord(word.text.slice(option.length))];
  });

/** Of the words of `sed`: those that are a script. */
export function linesOfSed(rest: readonly CommandWord[]): CodeLines {
  const given: string[] = [];
  let operand: string | null = null;
  for (let at = 0; at < rest.length; at += 1) {
    const text = rest[at]?.text ?? '';
    const option = /^(?:-[nrEsuz]*e|--e[a-z]*=?)/.exec(text)?.[0];
    if (option !== undefined) {
      const attached = option.length < text.length;
      if (!attached) at += 1;
      given.push(attached ? text.slice(option.length) : (rest[at]?.text ?? ''));
    } else if (/^(?:-[nrEsuz]*[fl]|--fi(?:le?)?|--l[a-z-]*)$/.test(text)) {
      at += 1;
    } else if (!text.startsWith('-')) {
      operand ??= text;
    }
  }
  const script = given.length > 0 ? given.join('\n') : (operand ?? '');
  const read = readSed(script);
  if (read === null) return { ...nothing, lines: firstGroups(sedLine, script, maxLines) };
  return { lines: read.lines, guessed: false, unnamed: read.readsThem ? 'sed runs what it reads' : null };
}

/** Of a script that is not understood: behind the command `e`, to the end of the line. */
const sedLine = /(?:^|[\s;{}\d$/!,])e[ \t]+([^\n]+)/g;
