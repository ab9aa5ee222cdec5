import type { CommandRedirect, CommandWord, FoundCommand, Origin } from '../schema/command.ts';
import { valuePayloads } from './assigned.ts';
import { createDirectories } from './directories.ts';
import { createGivenValues } from './given-values.ts';
import { type Around, createInputs, isProgram } from './inputs.ts';
import { heldBy } from './line-names.ts';
import { listsRead } from './lists.ts';
import { createNamedLines } from './named-lines.ts';
import { createNames } from './names.ts';
import { anything } from './origins.ts';
import { baseName } from './programs.ts';
import { createReveal } from './revealed.ts';
import { createScriptFiles } from './script-files.ts';
import type { ParseScript, Script, ScriptRedirect, ScriptWord, Step } from './script.ts';
import { createStarted, type Doubts, widening } from './started.ts';
import { codeRead, wordsRead } from './taken-input.ts';
import { type Choice, literalWord } from './words.ts';

/** Most commands that are revealed (02 §9.3). */
const maxRevealed = 256;
/** Most words of a call without a line. */
const maxWords = 20_000;
/** Tables of bash from a name to what it starts. */
const renaming: ReadonlySet<string> = new Set(['BASH_ALIASES', 'BASH_CMDS']);

const exporting = /^(?:-[A-Za-z]*a[A-Za-z]*|allexport)$/;

/** Every command of a call, those in the words of others among them. */
export type Found = {
  readonly commands: readonly FoundCommand[];
  /** What could not be read, else null. */
  readonly unread: string | null;
  /** A program, or a directory, that is no literal and whose value is not known, else null. */
  readonly unnamed: string | null;
};

/**
 * Collects and reveals (02 §9.3). Null when a text has to be parsed and there is no parser. Bounded; never throws.
 */
export function findInWords(words: readonly string[], parse: ParseScript | null): Found | null {
  const finder = createFinder(parse);
  finder.command(words.slice(0, maxWords).map(literalWord), [], { depth: 0, input: [], origins: [] });
  if (finder.needsParser()) return null;
  const found = finder.found();
  return words.length > maxWords ? { ...found, unread: found.unread ?? `it has more than ${maxWords} words` } : found;
}

export function findInScript(script: Script, parse: ParseScript): Found {
  const finder = createFinder(parse);
  finder.script(script, { depth: 0, input: [], origins: [] });
  return finder.found();
}

function createFinder(parse: ParseScript | null) {
  const commands: FoundCommand[] = [];
  const named = createNamedLines();
  let revealed = 0;
  let unread: string | null = null;
  let unnamed: string | null = null;
  let needsParser = false;
  /** What the text that is being read gets from outside, where nothing in it stands before a pipe. */
  let outer: readonly string[] = [];
  let outerOrigins: readonly Origin[] = [];
  /** Something in the line may run again, or later than it stands: a loop, a function, a trap. */
  let repeats = false;
  /** What is given to a name is in the environment of all that is started behind it (`set -a`). */
  let exportsAll = false;

  const doubts: Doubts = {
    unread: (why) => {
      unread ??= why;
    },
    unnamed: (why) => {
      unnamed ??= why;
    },
  };
  const names = createNames(doubts.unread);
  const { expand } = names;
  const given = createGivenValues(names);
  const files = createScriptFiles<Around>({
    reveal: (payload, path, around) => reveal(payload, path, around),
    unnamed: doubts.unnamed,
    isProgram,
  });
  const directories = createDirectories({
    valuesOf: names.valuesOf,
    spent: () => doubts.unread('the directory changes too often'),
    unnamed: (text) => doubts.unnamed(`the directory ${text} is no literal`),
  });
  const inputs = createInputs({
    parse,
    names,
    files,
    lineOf: named.lineOf,
    outer: () => outer,
    spent: doubts.unread,
  });

  const script = (read: Script, around: Around): void => {
    if (read.error !== null) unread ??= read.error;
    const before = [outer, outerOrigins] as const;
    outer = around.input;
    outerOrigins = around.origins;
    if (read.steps.some(({ kind }) => kind === 'function' || kind === 'loop')) given.foresee(read.steps);
    for (const step of read.steps) {
      if (step.kind === 'values') assign(step, around);
      else if (step.kind === 'command') readStep(step, around);
      else {
        repeats = true;
        files.startAgain();
        if (step.kind === 'function') named.addFunction(step.name);
      }
    }
    [outer, outerOrigins] = before;
  };

  const assign = (step: Extract<Step, { kind: 'values' }>, around: Around): void => {
    const { name, words, certain, append } = step;
    // A program that it names is started, and not written.
    const variable = name !== null && (step.given === true || exportsAll) && heldBy(name) === null ? name : null;
    // The reading with the latest values comes first, and its value is the latest.
    const values = words.flatMap((word) =>
      [...names.readings([word])].reverse().flatMap((choice) => expand(word, choice)),
    );
    const at = directories.current();
    // Nothing is started by it: it counts as revealed, and stands in no list of commands that is granted.
    if (values.length > 0)
      commands.push({ words: [], redirects: [], values, variable, directories: at, revealed: true });
    if (name === null) return;
    names.give(name, values, { certain, append });
    if (widening.has(name)) unnamed ??= `with ${name} patterns stand for other files`;
    if (renaming.has(name)) unnamed ??= `a name is given to another program: ${name}`;
    for (const value of values) for (const payload of valuePayloads(name, value)) reveal(payload, name, around);
  };

  const readStep = (step: Extract<Step, { kind: 'command' }>, around: Around): void => {
    const targets = step.redirects.flatMap(({ target }) => (target === null ? [] : [target]));
    // One shell expands it, and another one looks for a program of that name.
    const brace = step.words[0]?.find((piece) => piece.kind === 'brace');
    if (brace !== undefined) unnamed ??= `the program ${brace.text} is no literal`;
    const own = inputs.inputOf(step);
    const input = own.length > 0 ? own : around.input;
    const read = inputs.originsOf(step);
    const origins = read.length > 0 ? read : outerOrigins;
    // From here on every command reads something else.
    if (step.words.length === 1 && read.length > 0 && isExec(step.words[0])) outerOrigins = [anything];
    for (const [index, choice] of names.readings([...step.words, ...targets]).entries()) {
      const words = step.words.flatMap((word) => expand(word, choice));
      const redirects = step.redirects.flatMap((one) => redirectsOf(one, choice));
      command(words, redirects, { depth: index === 0 ? around.depth : around.depth + 1, input, origins });
      puts(step, words, redirects);
    }
  };

  /** What a command writes may be a script of the same line. */
  const puts = (
    step: Extract<Step, { kind: 'command' }>,
    words: readonly CommandWord[],
    redirects: readonly CommandRedirect[],
  ): void => {
    const targets = redirects.flatMap(({ target, writes }) => (writes && target !== null ? [target.text] : []));
    if (targets.length > 0) {
      const texts = inputs.written(words.length === 0 ? step.input : [step]);
      for (const path of new Set(targets)) files.put(path, texts);
    }
    if (repeats) files.startAgain();
  };

  const redirectsOf = (one: ScriptRedirect, choice: Choice): readonly CommandRedirect[] => {
    const writes = !one.operator.startsWith('<') || one.operator === '<>';
    if (one.target === null) return [{ operator: one.operator, target: null, writes: false }];
    return expand(one.target, choice).map((target) =>
      // `2>&1` names a descriptor.
      /^[<>]&$/.test(one.operator) && /^([0-9]+-?|-)$/.test(target.text)
        ? { operator: one.operator, target: null, writes: false }
        : { operator: one.operator, target, writes },
    );
  };

  const command = (words: readonly CommandWord[], redirects: readonly CommandRedirect[], around: Around): void => {
    const isRevealed = around.depth > 0;
    if (isRevealed) revealed += 1;
    if (revealed > maxRevealed) {
      unread ??= `more than ${maxRevealed} commands stand in the words of others`;
      return;
    }
    const known = around.input.filter((text) => !isProgram(text));
    for (const { text, open } of words) {
      const at = open ? text.indexOf('<(') : -1;
      if (at !== -1 && text.endsWith(')')) files.printed(text.slice(at), inputs.printedBy(text.slice(at)));
    }
    const code = files.code(words, known).map(({ text }) => text);
    const read = [...codeRead(words, known), ...code, ...wordsRead(words, known)].map(literalWord);
    const patched = inputs.patchesOf(words, redirects, around);
    const values = [...read, ...listsRead(words, around.origins), ...patched.names];
    const { patches } = patched;
    if (baseName(words[0]?.text ?? '') === 'set' && words.some(({ text }) => exporting.test(text))) exportsAll = true;
    directories.during(words, () => {
      const own = { words, redirects, values, directories: directories.current(), revealed: isRevealed };
      commands.push(patches.length === 0 ? own : { ...own, patches });
      if (words.length === 0) return;
      const [program] = words;
      // One shell starts the program behind the sign.
      if (program !== undefined && /^=[\w./+-]/.test(program.text)) {
        unread ??= `${program.text.slice(0, 40)} means something else in another shell`;
      }
      // Alone, `exec` changes only what its redirects name.
      const reads = words.length > 1 || redirects.some(({ operator }) => operator.startsWith('<'));
      started(
        words,
        reads || baseName(words[0]?.text ?? '') !== 'exec' ? around : { ...around, input: [], origins: [] },
      );
    });
    files.wrote(words, around.input);
  };

  const reveal = createReveal({
    parse,
    files,
    directories,
    inputs,
    doubts,
    needsParser: () => {
      needsParser = true;
    },
    script,
    command,
  });
  const started = createStarted({
    names,
    given,
    named,
    files,
    directories,
    doubts,
    repeats: () => {
      repeats = true;
    },
    reveal,
  });

  /** What was found until the stack was full stands. */
  const whole = (read: () => void): void => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      doubts.unread('its commands start one another too often');
    }
  };

  return {
    script: (read: Script, around: Around): void => whole(() => script(read, around)),
    command: (...given: Parameters<typeof command>): void => whole(() => command(...given)),
    needsParser: (): boolean => needsParser,
    found: (): Found => {
      const everywhere = repeats && directories.all().length > 1 ? directories.all() : null;
      return {
        commands: everywhere === null ? commands : commands.map((one) => ({ ...one, directories: everywhere })),
        unread,
        unnamed,
      };
    },
  };
}

const isExec = (word: ScriptWord | undefined): boolean =>
  word?.length === 1 && word[0]?.kind === 'text' && word[0].value === 'exec';
