import { forEachChild, parse } from 'unbash';
import type { Assignment, Command, ParsedScript, Redirection, SyntaxNode, Word, WordPart } from 'unbash';
import { expandingLine, substitutes } from './assigned.ts';
import { isOldArithmetic, looseCommand, looseDelimiter, looseRedirect, readsAgain } from './loose-parse.ts';
import type { Script, ScriptRedirect, ScriptWord, Step } from './script.ts';
import { hereText, tooOpen } from './script-text.ts';
import { allParameters, createWordReader, givenByCaller } from './word-reader.ts';

/** Deepest nesting of groups and substitutions, and most commands in one line (02 §9.3). */
const maxNesting = 16;
const maxCommands = 64;
/** Most nodes that are looked at: every line that people write has fewer. */
const maxNodes = 20_000;
/** Nodes that nest others in a way that the limit counts. */
const nesting: ReadonlySet<string> = new Set(
  (
    'Subshell BraceGroup If For Select While Function Coproc Case ArithmeticFor CommandExpansion ProcessSubstitution ' +
    'ArithmeticExpansion ArithmeticCommandExpansion ParameterExpansion'
  ).split(' '),
);
/** Nodes behind which an assignment has surely been made. */
const straight: ReadonlySet<string> = new Set(
  'Script Statement AndOr Pipeline BraceGroup CompoundList Command'.split(' '),
);
/**
 * Reads a line with a grammar of the POSIX shell and of bash. Every command anywhere in it is a step. Never throws: what
 * does not parse, or is beyond a limit, has an `error`, and the steps that were found so far.
 */
export function parseScript(text: string): Script {
  const walk = createWalk(text);
  const open = tooOpen(text);
  if (open !== null) return { ...walk.result(), error: open };
  try {
    walk.script(parse(text), 0);
  } catch {
    // The parser's own recursion, or a limit: what was found so far stands.
    walk.fail('the line is nested too deep');
  }
  return walk.result();
}

/** Names a construct of bash that a plainer `/bin/sh` reads as other commands; null for every other node. */
function foreignConstruct(node: SyntaxNode): string | null {
  switch (node.type) {
    case 'ArithmeticCommand':
      return '((..))';
    case 'TestLogical':
    case 'TestGroup':
      return '[[..]]';
    case 'TestBinary':
      return /^[<>]$|=~/.test(node.operator) ? '[[..]]' : null;
    case 'ArithmeticExpansion':
      return isOldArithmetic(node) ? '$[..]' : null;
    default:
      return null;
  }
}

/** Tests of `[[..]]` that look at a file; the others compare texts and numbers. */
const fileTests = /^-([abcdefghkprsuwxGLNOS]|nt|ot|ef)$/;

class Beyond extends Error {}

function createWalk(text: string) {
  const steps: Step[] = [];
  const singleQuoted: [number, number][] = [];
  let error: string | null = null;
  let dollarQuoted = false;
  let commands = 0;
  let nodes = 0;
  let inside = 0;
  /** Within something that may not be executed, or in a shell of its own. */
  let unsure = 0;
  /** Where steps go: the line's own list, or that of a substitution as well. */
  let lists: Step[][] = [steps];
  let input: readonly Step[] = [];

  const fail = (why: string | null): void => {
    error ??= why;
  };
  const add = (step: Step): void => {
    for (const list of lists) list.push(step);
  };

  const script = (node: ParsedScript, depth: number): void => {
    for (const statement of node.commands) visit(statement, depth);
    const [problem] = node.errors ?? [];
    if (problem !== undefined) fail(`the line does not parse: ${problem.message}`);
  };

  const visit = (node: SyntaxNode, depth: number): void => {
    nodes += 1;
    const inner = nesting.has(node.type) ? depth + 1 : depth;
    if (inner > maxNesting) beyond(`the line is nested more than ${maxNesting} deep`);
    if (nodes > maxNodes) beyond('the line has too many parts');
    const foreign = foreignConstruct(node);
    if (foreign !== null) fail(`${foreign} means something else in another shell`);
    // What stands on a line of its own there is a command where `[[` is a program.
    if (node.type === 'TestCommand' && !/^\[\[.*\]\]$/.test(text.slice(node.pos, node.end)))
      fail('[[..]] over several lines means something else in another shell');
    const before = unsure;
    if (!straight.has(node.type) || (node.type === 'Statement' && node.background === true)) unsure += 1;
    visitNode(node, inner);
    unsure = before;
  };

  const visitNode = (node: SyntaxNode, inner: number): void => {
    switch (node.type) {
      case 'Script':
        script(node, inner);
        return;
      case 'Command':
        command(node, inner);
        return;
      case 'AndOr': {
        const before = unsure;
        for (const one of node.commands) {
          visit(one, inner);
          unsure = before + 1;
        }
        unsure = before;
        return;
      }
      case 'Pipeline': {
        const before = input;
        if (node.commands.length > 1) unsure += 1;
        for (const one of node.commands) {
          const from = steps.length;
          visit(one, inner);
          input = steps.slice(from);
        }
        input = before;
        return;
      }
      case 'Redirected': {
        const redirects = node.redirects.map((one) => redirect(one, inner));
        const before = input;
        // Whatever in it reads gets what a `cat` would: a here-document of a group.
        if (redirects.some(({ operator }) => operator.startsWith('<'))) {
          input = [{ kind: 'command', words: [[{ kind: 'text', value: 'cat' }]], redirects, input: [] }];
        }
        const from = steps.length;
        visit(node.command, inner);
        input = before;
        // What is written into its targets comes from the commands in it.
        add({ kind: 'command', words: [], redirects, input: steps.slice(from) });
        return;
      }
      case 'Function': {
        const before = input;
        input = [givenByCaller];
        forEachChild(node, (child) => visit(child, inner));
        input = before;
        add({ kind: 'function', name: node.name.value });
        return;
      }
      case 'For':
      case 'Select':
        add({
          kind: 'values',
          name: node.name.value,
          words: node.wordlist?.map((one) => word(one, inner)) ?? [allParameters],
          certain: node.type === 'For' && node.wordlist !== undefined,
          append: false,
        });
        visit(node.body, inner);
        add({ kind: 'loop' });
        return;
      case 'Case':
        // What is told apart is looked at like a word of a command.
        add({ kind: 'values', name: null, words: [word(node.word, inner)], certain: false, append: false });
        for (const item of node.items) visit(item, inner);
        return;
      case 'While':
        forEachChild(node, (child) => visit(child, inner));
        add({ kind: 'loop' });
        return;
      case 'Assignment':
        assignment(node, inner, { certain: false, given: false });
        return;
      case 'TestUnary':
        expandedLater(node.operand.value, inner);
        tested(node.operator, [node.operand], inner);
        return;
      case 'TestBinary':
        expandedLater(`${node.left.value} ${node.right.value}`, inner);
        tested(node.operator, [node.left, node.right], inner);
        return;
      case 'ArithmeticFor':
        expandedLater(text.slice(node.pos, node.body.pos), inner);
        forEachChild(node, (child) => visit(child, inner));
        add({ kind: 'loop' });
        return;
      case 'ArithmeticExpansion':
        forEachChild(node, (child) => visit(child, inner));
        arithmetic(node, inner);
        return;
      case 'Word':
        word(node, inner);
        return;
      case 'HereDocBody':
        // Expanded as in double quotes, whose expansions end where the parser and a shell may not agree.
        if (node.parts !== undefined) expanded(node.parts, inner);
        return;
      default:
        forEachChild(node, (child) => visit(child, inner));
    }
  };

  /** Of `[[..]]`, which has no words of a command: what it takes for a file is named as `[` names it. */
  const tested = (operator: string, operands: readonly Word[], depth: number): void => {
    const words = operands.map((one) => word(one, depth));
    if (fileTests.test(operator)) add({ kind: 'values', name: null, words, certain: false, append: false });
  };

  const beyond = (why: string): never => {
    fail(why);
    throw new Beyond(why);
  };

  const command = (node: Command, depth: number): void => {
    commands += 1;
    if (commands > maxCommands) beyond(`the line has more than ${maxCommands} commands`);
    fail(looseCommand(node, text));
    const from = input;
    input = [];
    const words: ScriptWord[] = node.name === undefined ? [] : [word(node.name, depth)];
    const redirects: ScriptRedirect[] = [];
    for (const part of [...node.prefix, ...node.suffix]) {
      if (part.type === 'Word') words.push(word(part, depth));
      else if (part.type !== 'Assignment') redirects.push(redirect(part, depth));
      else {
        const argument = node.name !== undefined && part.pos > node.name.pos;
        if (argument) words.push(declared(part, depth));
        // In front of a command it holds for that one only, and not for its own words.
        const given = !argument && node.name !== undefined;
        assignment(part, depth, { certain: !given && unsure === 0, given });
      }
    }
    input = from;
    if (words.length > 0 || redirects.length > 0) add({ kind: 'command', words, redirects, input });
  };

  const assignment = (
    node: Assignment,
    depth: number,
    { certain, given }: { readonly certain: boolean; readonly given: boolean },
  ): void => {
    if (node.index !== undefined) {
      // Where there are no arrays, it is a program whose name begins so, and other commands behind it.
      if (/[\s;&|<>()]/.test(node.index.text)) fail('x[..]= means something else in another shell');
      subscript(node.index, depth);
    }
    if (node.value.type === 'Word') {
      add({
        kind: 'values',
        name: node.name,
        words: [word(node.value, depth)],
        certain: certain && node.append !== true,
        append: node.append === true,
        given,
      });
    } else {
      const words = node.value.elements.map((element) => word(element, depth));
      add({ kind: 'values', name: node.name, words, certain: false, append: false, given });
    }
  };

  const subscript = (node: Word, depth: number): void => {
    visit(node, depth);
    expandedLater(node.value, depth);
  };

  /** An argument of `export` and its like is a word too. */
  const declared = (node: Assignment, depth: number): ScriptWord => {
    const name = node.text.slice(0, node.value.pos - node.pos);
    return [{ kind: 'text', value: name }, ...(node.value.type === 'Word' ? word(node.value, depth) : [])];
  };

  const redirect = (node: Redirection, depth: number): ScriptRedirect => {
    fail(looseRedirect(node));
    if (node.type === 'HereDoc') {
      fail(looseDelimiter(node.delimiter?.text));
      visit(node.body, depth);
      return { operator: node.operator, target: null, body: hereText(node.body.text, node.delimiter?.quoted === true) };
    }
    return { operator: node.operator, target: node.target === undefined ? null : word(node.target, depth), body: null };
  };

  const { word, expanded } = createWordReader({
    fail,
    count: () => {
      nodes += 1;
    },
    dollarQuoted: () => {
      dollarQuoted = true;
    },
    quoted: (part) => {
      if (inside === 0) singleQuoted.push([part.pos, part.end]);
    },
    visitInside: (part, depth, from) => visitInside(part, depth, from),
    collected: (part, depth) => {
      const own: Step[] = [];
      lists = [...lists, own];
      visitInside(part, depth);
      lists = lists.filter((list) => list !== own);
      return own;
    },
    expandedLater: (later, depth) => expandedLater(later, depth),
    arithmetic: (part, depth) => arithmetic(part, depth),
    gives: (name, value) => add({ kind: 'values', name, words: [value], certain: false, append: false }),
  });

  /** A text that bash expands once more when it takes it for a name or a number. */
  const expandedLater = (later: string, depth: number): void => {
    if (!substitutes(later)) return;
    const before = inside;
    inside += 1;
    visit(parse(expandingLine(later)), depth + 1);
    inside = before;
  };

  /** Quotes are ordinary characters there. */
  const arithmetic = (part: { readonly text: string }, depth: number): void => {
    if (/['"\\]/.test(part.text)) expandedLater(part.text.replace(/^\$(\(\(|\[)|(\)\)|\])$/g, ''), depth);
  };

  const visitInside = (part: WordPart, depth: number, from: readonly Step[] = []): void => {
    const before = input;
    input = from;
    inside += 1;
    const inner = nesting.has(part.type) ? depth + 1 : depth;
    if (inner > maxNesting) beyond(`the line is nested more than ${maxNesting} deep`);
    forEachChild(part, (child) => visit(child, inner));
    inside -= 1;
    input = before;
  };

  return {
    fail,
    script,
    result(): Script {
      if (dollarQuoted && steps.some(readsAgain))
        fail("$'..' that is read again means something else in another shell");
      return { steps, error, singleQuoted };
    },
  };
}
