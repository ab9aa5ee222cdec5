import type { CommandRedirect, CommandWord, FoundCommand, Origin, Patch } from '../schema/command.ts';
import { expandingLine, substitutesIn, valuePayloads } from './assigned.ts';
import { createDirectories } from './directories.ts';
import { createNamedLines } from './named-lines.ts';
import { createNames } from './names.ts';
import { anything, givers, inputOrigins } from './origins.ts';
import { cameFrom } from './filled-in.ts';
import { listGivers, listsRead } from './lists.ts';
import { linesInCode } from './code-lines.ts';
import { patcherOf, unseenNames } from './patches.ts';
import { codeLines, type Payload, payloadsOf } from './payload.ts';
import { printed } from './printed.ts';
import { baseName, shells } from './programs.ts';
import { createScriptFiles, filesWritten } from './script-files.ts';
import { patchedBy } from '../text/patch-names.ts';
import type { ParseScript, Script, ScriptRedirect, ScriptWord, Step } from './script.ts';
import { type Choice, literalWord } from './words.ts';
import { catted, codeRead, wordsRead } from './taken-input.ts';
import { createWritten } from './written.ts';

/** Most commands that are revealed, and how deep one may stand in another (02 §9.3). */
const maxRevealed = 256;
const maxDepth = 4;
/** Most words of a call without a line. */
const maxWords = 20_000;
/** Most text that is read again because a command hands it to a shell. */
const maxRevealedText = 262_144;

/** Commands that give names other values than the line shows. */
const assigning: ReadonlySet<string> = new Set(
  'read readarray mapfile getopts unset declare typeset local eval source .'.split(' '),
);

/** Tables of bash from a name to what it starts. */
const renaming: ReadonlySet<string> = new Set(['BASH_ALIASES', 'BASH_CMDS']);

/** Settings by which a pattern stands for more files than it shows. */
const widening: ReadonlySet<string> = new Set(['dotglob', 'nocaseglob', 'globdots', 'GLOB_DOTS', 'GLOBIGNORE']);

/** Those that go to another directory. */
const changing: ReadonlySet<string> = new Set(['cd', 'chdir', 'pushd']);

/** Those of them that take what they read. */
const reading: ReadonlySet<string> = new Set(['read', 'readarray', 'mapfile']);

/** Every command of a call, those in the words of others among them. */
export type Found = {
  readonly commands: readonly FoundCommand[];
  /** What could not be read, else null. */
  readonly unread: string | null;
  /** A program, or a directory, that is no literal and whose value is not known, else null. */
  readonly unnamed: string | null;
};

/** What stands around a command: it was revealed at this depth, and reads one of these texts, as far as is known. */
type Around = { readonly depth: number; readonly input: readonly string[]; readonly origins: readonly Origin[] };

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
  let revealedText = 0;
  let unread: string | null = null;
  let unnamed: string | null = null;
  let needsParser = false;
  /** What the text that is being read gets from outside, where nothing in it stands before a pipe. */
  let outer: readonly string[] = [];
  let outerOrigins: readonly Origin[] = [];
  /** Something in the line may run again, or later than it stands: a loop, a function, a trap. */
  let repeats = false;

  const names = createNames((what) => {
    unread ??= what;
  });
  const { expand } = names;
  const files = createScriptFiles<Around>({
    reveal: (payload, path, around) => reveal(payload, path, around),
    unnamed: (why) => {
      unnamed ??= why;
    },
    isProgram,
  });
  const directories = createDirectories({
    valuesOf: names.valuesOf,
    spent: () => {
      unread ??= 'the directory changes too often';
    },
    unnamed: (text) => {
      unnamed ??= `the directory ${text} is no literal`;
    },
  });

  const script = (read: Script, around: Around): void => {
    if (read.error !== null) unread ??= read.error;
    const before = [outer, outerOrigins] as const;
    outer = around.input;
    outerOrigins = around.origins;
    if (read.steps.some(({ kind }) => kind === 'function' || kind === 'loop')) foresee(read.steps);
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

  /** Where something may run later than it stands, names may hold by then what the line gives them further on. */
  const foresee = (steps: readonly Step[]): void => {
    const functions = new Set(steps.flatMap((step) => (step.kind === 'function' ? [step.name] : [])));
    for (const step of steps) {
      if (step.kind === 'values' && step.name !== null) {
        const words = step.words.flatMap((word) => expand(word));
        names.mayHold(
          step.name,
          words.flatMap((word) => (word.open ? givers(word) : [])),
        );
      }
      if (step.kind !== 'command') continue;
      const words = step.words.flatMap((word) => expand(word));
      if (reading.has(baseName(words[0]?.text ?? ''))) takes(words, inputOrigins(step, expand));
      if (functions.has(words[0]?.text ?? '') || words[0]?.text === 'set') gives(words.slice(1));
    }
  };

  /** A shell that is started, a function and `set` have their words as `$1` and the others; `shift` moves them. */
  const gives = (words: readonly CommandWord[]): void => {
    const origins = words.filter(({ text }) => !/^-[A-Za-z]+$/.test(text)).flatMap(givers);
    const known = origins.length > maxParameters ? [anything] : origins;
    for (const parameter of '@*0123456789') names.mayHold(parameter, known);
  };

  /** What `env` gives to names, for the shell that it starts. */
  const holdsGiven = (words: readonly CommandWord[]): void => {
    for (const { path, open, unknown } of words) {
      const [, name, text] = /^([A-Za-z_]\w*)=(.*)$/s.exec(path) ?? [];
      if (name === undefined || text === undefined) continue;
      names.mayHold(name, open ? (unknown?.origins ?? []) : [{ kind: 'text', text }]);
    }
  };

  /** A name that is read holds what comes in. */
  const takes = (words: readonly CommandWord[], origins: readonly Origin[]): void => {
    for (const word of words.slice(1)) if (/^[A-Za-z_]\w*$/.test(word.text)) names.mayHold(word.text, origins);
  };

  /** The words behind `printf -v`. */
  const holdsPrinted = ([name, ...rest]: readonly CommandWord[]): void => {
    if (name === undefined || name.open) return;
    const values = printed([literalWord('printf'), ...rest]).map(literalWord);
    names.give(name.text, values, { certain: false, append: false });
    if (rest.some(({ open }) => open)) names.mayHold(name.text, [anything]);
  };

  const assign = ({ name, words, certain, append }: Extract<Step, { kind: 'values' }>, around: Around): void => {
    // The reading with the latest values comes first, and its value is the latest.
    const values = words.flatMap((word) =>
      [...names.readings([word])].reverse().flatMap((choice) => expand(word, choice)),
    );
    const at = directories.current();
    // Nothing is started by it: it counts as revealed, and stands in no list of commands that is granted.
    if (values.length > 0) commands.push({ words: [], redirects: [], values, directories: at, revealed: true });
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
    const own = inputOf(step);
    const input = own.length > 0 ? own : around.input;
    const given = originsOf(step);
    const origins = given.length > 0 ? given : outerOrigins;
    // From here on every command reads something else.
    if (step.words.length === 1 && given.length > 0 && isExec(step.words[0])) outerOrigins = [anything];
    for (const [index, choice] of names.readings([...step.words, ...targets]).entries()) {
      const words = step.words.flatMap((word) => expand(word, choice));
      const redirects = step.redirects.flatMap((one) => redirectsOf(one, choice));
      command(words, redirects, { depth: index === 0 ? around.depth : around.depth + 1, input, origins });
      puts(step, words, redirects, input);
    }
  };

  /** What a command writes may be a script of the same line. */
  const puts = (
    step: Extract<Step, { kind: 'command' }>,
    words: readonly CommandWord[],
    redirects: readonly CommandRedirect[],
    input: readonly string[],
  ): void => {
    const targets = redirects.flatMap(({ target, writes }) => (writes && target !== null ? [target.text] : []));
    const { paths, reads } = filesWritten(words);
    if (targets.length > 0) {
      const texts = written(words.length === 0 ? step.input : [step]);
      for (const path of new Set(targets)) files.put(path, texts);
    }
    for (const path of paths) files.put(path, reads ? input : [unseen]);
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

  const written = createWritten({
    parse,
    readings: ({ words }) => names.readings(words).map((choice) => words.flatMap((word) => expand(word, choice))),
    inputOf: (step) => inputOf(step),
    lineOf: (words) => named.lineOf(words),
    spent: () => {
      unread ??= 'too many commands may write what a shell reads';
    },
  });

  /** What a command reads: a here-document, a here-string, or what an `echo` before its pipe writes. */
  const inputOf = (step: Extract<Step, { kind: 'command' }>): readonly string[] => {
    // Which of several the program reads depends on their descriptors: all of them count.
    const texts = step.redirects.flatMap((one): readonly string[] => {
      if (one.body !== null) return [one.body];
      const { target, operator } = one;
      if (target === null || !/^<(<<)?$/.test(operator)) return [];
      return names.readings([target]).flatMap((choice) => {
        const words = expand(target, choice);
        const text = words.map((word) => word.text).join(' ');
        const programs = words.filter((word) => word.open && isProgram(word.text));
        const prints = programs.flatMap((word) => printedBy(word.text));
        if (operator === '<<<' || programs.length > 0) return [text, ...prints];
        return files.input(text, unseen);
      });
    });
    if (texts.length > 0) return texts;
    return step.input.length === 0 ? outer : written(step.input);
  };

  /** Many commands of a group read the same. */
  const knownOrigins = new WeakMap<object, readonly Origin[]>();
  const originsOf = (step: Extract<Step, { kind: 'command' }>): readonly Origin[] => {
    if (step.redirects.length === 0 && step.input.length === 0) return [];
    const key = step.redirects.length === 0 ? step.input : step;
    const known = knownOrigins.get(key) ?? inputOrigins(step, expand);
    knownOrigins.set(key, known);
    return known;
  };

  /** What the command in `<(..)` may print. */
  const printedBy = (program: string): readonly string[] =>
    parse === null ? [] : written(parse(program.slice(2, -1)).steps);

  /** What a command changes by a patch: names that the line shows, and files that may show others. */
  const patchesOf = (
    words: readonly CommandWord[],
    redirects: readonly CommandRedirect[],
    { input, origins }: Around,
  ): { readonly names: readonly CommandWord[]; readonly patches: readonly Patch[] } => {
    const patcher = patcherOf(words);
    if (patcher === null) return { names: [], patches: [] };
    const { strip, into } = patcher;
    const opened = redirects.flatMap(({ operator, target }) => (operator === '<' && target !== null ? [target] : []));
    const given = patcher.files.filter(({ text }) => text !== '-');
    const places = given.length > 0 ? given : opened.length > 0 ? opened : catted(origins);
    const held = places.map((file) => ({ file, texts: files.input(file.text, unseen) }));
    const texts = places.length > 0 ? held.flatMap((one) => one.texts) : input;
    const names = texts.map((text) =>
      isProgram(text) ? null : (patchedBy(text, { strip, into })?.map(literalWord) ?? null),
    );
    if (names.includes(null) || (places.length === 0 && texts.length === 0)) names.push([unseenNames(into)]);
    return {
      names: names.flatMap((some) => some ?? []),
      patches: held.flatMap((one) =>
        one.texts.length === 0 ? [{ file: one.file, strip, into, unseen: unseenNames(into) }] : [],
      ),
    };
  };

  const command = (words: readonly CommandWord[], redirects: readonly CommandRedirect[], around: Around): void => {
    const isRevealed = around.depth > 0;
    if (isRevealed) revealed += 1;
    if (revealed > maxRevealed) {
      unread ??= `more than ${maxRevealed} commands stand in the words of others`;
      return;
    }
    const known = around.input.filter((text) => !isProgram(text));
    const code = files.code(words);
    const read = [...codeRead(words, known), ...code, ...wordsRead(words, known)].map(literalWord);
    const patched = patchesOf(words, redirects, around);
    const values = [...read, ...listsRead(words, around.origins), ...patched.names];
    const { patches } = patched;
    directories.during(words, () => {
      const own = { words, redirects, values, directories: directories.current(), revealed: isRevealed };
      commands.push(patches.length === 0 ? own : { ...own, patches });
      if (words.length === 0) return;
      // Alone, `exec` changes only what its redirects name.
      const reads = words.length > 1 || redirects.some(({ operator }) => operator.startsWith('<'));
      started(
        words,
        reads || baseName(words[0]?.text ?? '') !== 'exec' ? around : { ...around, input: [], origins: [] },
      );
    });
  };

  /** What a command says of those behind it, and what it starts. */
  const started = (words: readonly CommandWord[], around: Around): void => {
    const [program] = words;
    if (program === undefined) return;
    if (program.open) unnamed ??= `the program ${program.text} is no literal`;
    // Of a name without a value nothing is left, and the word behind it is the program.
    if (program.unset === '') reveal({ kind: 'words', words: words.slice(1) }, program.text, around);
    // The file of the shell itself, or one that it has opened.
    if (/^\/(proc|dev)\//.test(program.text)) unnamed ??= `the program ${program.text} is another one in each process`;
    const name = baseName(program.text);
    if (changing.has(name)) directories.change(words.slice(1));
    const wider =
      shells.has(name) || /^(shopt|setopt)$/.test(name) ? words.find(({ text }) => widening.has(text)) : undefined;
    if (wider !== undefined) unnamed ??= `with ${wider.text} patterns stand for other files`;
    if (name === 'trap') repeats = true;
    if (assigning.has(name) || (name === 'printf' && words[1]?.text === '-v')) names.forget();
    if (name === 'printf' && words[1]?.text === '-v') holdsPrinted(words.slice(2));
    if (name === 'alias') named.addAliases(words.slice(1));
    const other = reading.has(name) && words.some(({ text }) => /^-[A-Za-z]*u/.test(text));
    const givers = other ? [anything] : listGivers(words, around.origins);
    if (reading.has(name)) takes(words, givers);
    if (name === 'set' || shells.has(name)) gives(words.slice(1));
    if (name === 'env') holdsGiven(words.slice(1));
    for (const payload of payloadsOf(words)) {
      reveal('words' in payload ? { ...payload, words: cameFrom(payload.words, givers) } : payload, name, around);
    }
    if (program.text.includes('/')) files.start(words, around);
    for (const text of [...codeRead(words, around.input), ...files.code(words)]) {
      for (const payload of codeLines(linesInCode(name, text)))
        reveal(payload, name, { ...around, input: [], origins: [] });
    }
    // Bash expands a value once more where it takes it for a number or a name.
    const taken = reading.has(name) ? around.input.map(literalWord) : [];
    const given = named.isFunction(program.text) ? words.slice(1) : [];
    for (const payload of substitutesIn([...taken, ...given])) reveal(payload, name, around);
    // It runs where it stands, as what `eval` reads does.
    named.expand(words, (line) => reveal({ kind: 'line', words: [line] }, 'eval', around));
  };

  const reveal = (payload: Payload, name: string, { depth, input, origins }: Around): void => {
    if (payload.kind === 'unreadable') {
      unread ??= `not read: ${payload.why}`;
      return;
    }
    if (payload.kind === 'unnamed') {
      unnamed ??= payload.why;
      return;
    }
    if (payload.kind === 'words') {
      if (payload.words.length === 0) return;
      if (depth >= maxDepth) unread ??= `commands stand in one another more than ${maxDepth} deep`;
      else if (isScript(name)) {
        command(payload.words, [], { depth: depth + 1, input, origins });
        if (!(payload.words[0]?.text ?? '').includes('/'))
          files.start(payload.words, { depth: depth + 1, input, origins });
      } else command(payload.words, [], { depth: depth + 1, input, origins });
      return;
    }
    const open = payload.kind === 'line' ? payload.words.find((word) => word.open)?.text : undefined;
    const given = payload.kind === 'input' ? input.find(isProgram) : undefined;
    if ((open ?? given) !== undefined) unnamed ??= `what ${name} runs is no literal: ${open ?? given}`;
    const own = payload.kind === 'input' ? null : payload.words.map((word) => word.text).join(' ');
    const line = payload.kind === 'text' ? expandingLine(own ?? '') : own;
    const program = open !== undefined && isProgram(open) ? printedBy(open) : [];
    for (const text of line === null ? input : [line, ...program]) {
      // What a shell reads from a program or a file is not seen (02 §7.3).
      if (text === '' || (payload.kind === 'input' && isProgram(text))) continue;
      revealedText += text.length;
      if (parse === null) {
        needsParser = true;
      } else if (depth >= maxDepth) {
        unread ??= `commands stand in one another more than ${maxDepth} deep`;
      } else if (revealedText > maxRevealedText) {
        unread ??= 'too much text stands in the words of other commands';
      } else {
        const before = directories.current();
        const read = parse(text);
        if (payload.kind === 'guess' && read.error !== null) continue;
        const behind = payload.kind === 'input' ? { input: [], origins: [] } : { input, origins };
        script(read, { depth: depth + 1, ...behind });
        if (name !== 'eval') directories.back(before);
      }
    }
  };

  return {
    script,
    command,
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

/** Most words that are kept for what a function is called with. */
const maxParameters = 32;

/** It takes the first of its words for a file with lines. */
const isScript = (name: string): boolean => shells.has(name) || name === 'source' || name === '.';

/** A command that stands as a file, whose output is not known: `bash < <(cmd)`. */
const unseen = '<(:)';
const isProgram = (text: string): boolean => text.startsWith('<(');
