import type { Word, WordPart } from 'unbash';
import { loosePart, looseText } from './loose-parse.ts';
import type { Piece, Removal, ScriptWord, Step } from './script.ts';
import { unquotedPieces } from './script-text.ts';
import { homeMark } from './words.ts';

/** Expansions of the POSIX shell; those of bash may be quoted differently elsewhere. */
const posixOperations: ReadonlySet<string> = new Set(['Default', 'Remove']);

/** Parts in which nothing is started that was not visited with the word around them. */
const simpleParts: ReadonlySet<string> = new Set(['Literal', 'SingleQuoted', 'SimpleExpansion', 'Glob']);

/** What a function reads is told where it is called: for a shell in it, the output of some command. */
export const givenByCaller: Step = {
  kind: 'command',
  words: [[{ kind: 'text', value: 'cat' }]],
  redirects: [{ operator: '<', target: [{ kind: 'open', text: '<(:)' }], body: null }],
  input: [],
};

/** What a loop without a list goes through. */
export const allParameters: ScriptWord = [{ kind: 'variable', name: '@', text: '"$@"', quoted: true }];

/** The walk over the line that the words stand in (`parse-script.ts`). */
export type Walk = {
  /** The first reason stands. */
  fail(why: string | null): void;
  /** One more node was looked at. */
  count(): void;
  quoted(part: WordPart): void;
  /** `$'x'`, in a plainer shell the text `$x`, which is an expansion for one that reads it again. */
  dollarQuoted(): void;
  /** @param from what the commands in it read */
  visitInside(part: WordPart, depth: number, from?: readonly Step[]): void;
  /** As `visitInside`; the steps in it. */
  collected(part: WordPart, depth: number): readonly Step[];
  expandedLater(text: string, depth: number): void;
  arithmetic(part: WordPart, depth: number): void;
  /** A name without a value has this one from here on. */
  gives(name: string, value: ScriptWord): void;
};

/** Reads the words of a line into pieces, and hands what stands in them to the walk. */
export function createWordReader(walk: Walk): {
  word(node: Word, depth: number): ScriptWord;
  /** The parts of a text that is expanded as in double quotes. */
  expanded(parts: readonly WordPart[], depth: number): void;
} {
  const word = (node: Word, depth: number): ScriptWord => {
    walk.count();
    const parts = node.parts;
    if (parts === undefined) {
      walk.fail(looseText(node.text));
      return unquotedPieces(node.text, node.value, true);
    }
    return parts.flatMap((part, index) => pieces(part, depth, false, index === 0));
  };

  const pieces = (part: WordPart, depth: number, quoted: boolean, first: boolean): readonly Piece[] => {
    walk.fail(loosePart(part));
    switch (part.type) {
      case 'Literal':
        return quoted ? [{ kind: 'text', value: part.value }] : unquotedPieces(part.text, part.value, first);
      case 'SingleQuoted':
        walk.quoted(part);
        return [{ kind: 'text', value: part.value }];
      case 'AnsiCQuoted':
        // Where `$'` is no quote of its own, the escaped quote ends it.
        if (part.text.includes('\\x{'))
          walk.fail("$'..' with a number in braces means something else in another shell");
        if (part.text.includes("\\'")) walk.fail("$'..' with an escaped quote means something else in another shell");
        if (/^\$'[A-Za-z0-9_({?!@*#$-]/.test(part.text)) walk.dollarQuoted();
        return [{ kind: 'text', value: part.value }];
      case 'DoubleQuoted':
      case 'LocaleString':
        if (/^\$"[A-Za-z0-9_({?!@*#$-]/.test(part.text)) walk.dollarQuoted();
        // An empty pair still makes a word.
        return part.parts.length === 0
          ? [{ kind: 'text', value: '' }]
          : part.parts.flatMap((one) => pieces(one, depth, true, false));
      case 'SimpleExpansion':
        return [{ kind: 'variable', name: part.text.slice(1), text: part.text, quoted }];
      case 'ParameterExpansion': {
        const inside = walk.collected(part, depth);
        if (part.index !== undefined) walk.expandedLater(part.index.value, depth);
        // Quotes in it, and what only bash knows, end at another place in another shell.
        if (part.operation !== undefined && (!posixOperations.has(part.operation.type) || /['"\\]/.test(part.text))) {
          walk.fail(`${part.text.slice(0, 40)} means something else in another shell`);
        }
        const otherwise = otherwiseOf(part, inside, depth);
        if (part.operation?.type === 'Default' && part.operation.operator.endsWith('=') && otherwise !== null) {
          walk.gives(part.parameter, otherwise);
        }
        const plain = part.operation === undefined && part.prefix === undefined && part.index === undefined;
        return plain
          ? [{ kind: 'variable', name: part.parameter, text: part.text, quoted }]
          : [
              {
                kind: 'open',
                text: part.text,
                name: part.parameter,
                unset: defaultOf(part),
                ...homeIn(part),
                ...(otherwise === null ? {} : { otherwise }),
                ...removalIn(part),
              },
            ];
      }
      case 'CommandExpansion':
        return [{ kind: 'output', steps: walk.collected(part, depth), text: part.text, quoted }];
      case 'BraceExpansion':
        walk.visitInside(part, depth);
        return [{ kind: 'brace', text: part.text }];
      case 'ArithmeticExpansion':
        walk.visitInside(part, depth);
        walk.arithmetic(part, depth);
        return [{ kind: 'open', text: part.text }];
      case 'ProcessSubstitution':
        // What is written into it comes from a command whose words are not read yet.
        if (part.operator === '<') return [{ kind: 'open', text: part.text, steps: walk.collected(part, depth) }];
        walk.visitInside(part, depth, [givenByCaller]);
        return [{ kind: 'open', text: part.text }];
      default:
        walk.visitInside(part, depth);
        return [{ kind: 'open', text: part.text }];
    }
  };

  /** The word of `${X:-a}` and its like. */
  const otherwiseOf = (
    { operation }: Extract<WordPart, { type: 'ParameterExpansion' }>,
    inside: readonly Step[],
    depth: number,
  ): ScriptWord | null => {
    if (operation?.type !== 'Default' || operation.operand === undefined) return null;
    const { text, value, parts } = operation.operand;
    if (parts === undefined) return unquotedPieces(text, value, true);
    return parts.flatMap((one): ScriptWord => {
      // What it starts has been visited already.
      if (one.type === 'CommandExpansion') return [{ kind: 'output', steps: inside, text: one.text, quoted: false }];
      if (one.type === 'ParameterExpansion' && one.operation === undefined && one.index === undefined) {
        return [{ kind: 'variable', name: one.parameter, text: one.text, quoted: false }];
      }
      return simpleParts.has(one.type) ? pieces(one, depth + 1, false, false) : [{ kind: 'open', text: one.text }];
    });
  };

  return {
    word,
    expanded(parts, depth) {
      for (const part of parts) pieces(part, depth, true, false);
    },
  };
}

/** `${HOME:-x}`, `${HOME%/}`: the home directory, whatever is done to it. */
const homeIn = ({ parameter, prefix, index }: Extract<WordPart, { type: 'ParameterExpansion' }>): { path?: string } =>
  parameter === 'HOME' && prefix === undefined && index === undefined ? { path: homeMark } : {};

/** `${X#a}`: a pattern of literals and wildcards is known. */
function removalIn({ operation, prefix, index }: Extract<WordPart, { type: 'ParameterExpansion' }>): {
  removal?: Removal;
} {
  if (operation?.type !== 'Remove' || prefix !== undefined || index !== undefined) return {};
  const { operator, operand } = operation;
  const plain = operand?.parts?.every(({ type }) => type === 'Literal' || type === 'Glob') !== false;
  return { removal: { operator, pattern: plain ? (operand?.text ?? '') : null } };
}

/** The literal that stands for a name without a value, `${X:-a}`; nothing where that is no literal, or another form. */
function defaultOf({ operation }: Extract<WordPart, { type: 'ParameterExpansion' }>): string {
  if (operation?.type !== 'Default' || operation.operand === undefined || operation.operator.endsWith('+')) return '';
  const { text, value, parts } = operation.operand;
  if (parts !== undefined) return parts.map(placeOf).join('');
  return unquotedPieces(text, value, true)
    .map((piece) => (piece.kind === 'text' ? piece.value : piece.kind === 'home' ? homeMark : ''))
    .join('');
}

/** A part of such a default as far as it is known: a literal, or the home directory. */
function placeOf(part: WordPart): string {
  if (part.type === 'Literal' || part.type === 'SingleQuoted') return part.value;
  if (part.type === 'Glob') return part.text;
  if (part.type === 'DoubleQuoted') return part.parts.map(placeOf).join('');
  return /^\$(?:HOME|\{HOME\})$/.test(part.text) ? homeMark : '';
}
