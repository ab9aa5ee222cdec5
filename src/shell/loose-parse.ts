import { baseName, shells } from './programs.ts';
import type { Step } from './script.ts';

/**
 * What the parser lets pass and the shell refuses, or reads as something else: such a line does not parse (02 §9.3). Each
 * answer says what it is, or is null.
 */

type Span = { readonly pos: number; readonly end: number };

/** A simple command as the parser gives it: as much as is needed here. */
type Parsed = Span & {
  readonly name?: (Span & { readonly text: string }) | undefined;
  readonly prefix: readonly Span[];
  readonly suffix: readonly Span[];
};

type Redirected = { readonly operator: string; readonly target?: { readonly text: string } | undefined };

const reserved: ReadonlySet<string> = new Set(
  '! { } [[ case coproc do done elif else esac fi for function if in select then until while'.split(' '),
);

/** Between the parts of a simple command stand blanks alone, and no parenthesis opens behind it. */
export function looseCommand(node: Parsed, text: string): string | null {
  const parts = [...(node.name === undefined ? [] : [node.name]), ...node.prefix, ...node.suffix];
  parts.sort((left, right) => left.pos - right.pos);
  const { name } = node;
  // Behind a redirection or an assignment one shell takes it for grammar, and another for a program.
  if (name !== undefined && reserved.has(name.text)) return `the line does not parse: ${name.text} as a program`;
  // A label of a loop, and behind it a command.
  if (name !== undefined && /.:$/.test(name.text))
    return `${name.text.slice(0, 40)} means something else in another shell`;
  // Within old substitutions the places count in another text.
  if (name !== undefined && text.slice(name.pos, name.end) !== name.text) return null;
  const gaps = parts.slice(1).map((part, index) => text.slice(parts[index]?.end ?? part.pos, part.pos));
  if (gaps.some((gap) => /\S/.test(gap.replace(/\\\n/g, '')))) return 'the line does not parse: a stray parenthesis';
  const opens = /(?:[ \t]|\\\n)*\(/y;
  opens.lastIndex = parts.at(-1)?.end ?? node.end;
  return opens.test(text) ? 'the line does not parse: a parenthesis behind a command' : null;
}

/** A delimiter with a quote that is not closed, or with what looks like an expansion. */
export function looseDelimiter(delimiter: string | undefined): string | null {
  // Only one shell reads on behind a line break in it.
  if (delimiter?.includes('\n') === true)
    return 'a line break in what stands behind << means something else in another shell';
  const whole = /^(?:[^'"\\$`]|\\.|\$(?![[{(])|'[^']*'|"(?:[^"\\]|\\.)*")*$/s.test(delimiter ?? '"');
  return whole ? null : 'the line does not parse: an open quote or an expansion behind <<';
}

/** What one shell takes for the target of a redirection is a command for another. */
export function looseRedirect({ operator, target }: Redirected): string | null {
  // A plainer shell ends the command at the `&`, and what follows the target is another one.
  if (operator.startsWith('&')) return `${operator} means something else in another shell`;
  // For bash the redirection ends behind the sign that closes a descriptor.
  return /^[<>]&$/.test(operator) && /^(?:\\\n)*-./s.test(target?.text ?? '')
    ? `what stands behind ${operator}- means something else in another shell`
    : null;
}

/** Patterns and expansions of single shells, and openers that are left as text. */
export function loosePart(part: { readonly type: string; readonly text: string }): string | null {
  switch (part.type) {
    case 'ExtendedGlob':
      return `${part.text.slice(0, 40)} means something else in another shell`;
    case 'CommandExpansion':
      // `${ cmd; }`
      return part.text.startsWith('$\u007b')
        ? 'a group of commands in an expansion means something else in another shell'
        : null;
    case 'ArithmeticExpansion':
      return isOldArithmetic(part) ? '$[..] means something else in another shell' : null;
    case 'Literal':
      return looseText(part.text);
    default:
      return null;
  }
}

/** `$[..]`, which only bash has: for others the text goes on behind it, with whatever commands stand in it. */
export const isOldArithmetic = (part: { readonly text: string }): boolean => part.text.startsWith('$[');

/**
 * Text in which an opener was left as it is, a last backslash, which some shells take away, or a dollar with a sign that is
 * an expansion of nothing for zsh.
 */
export const looseText = (text: string): string | null =>
  /(?:^|[^\\])(?:\\\\)*(?:\$[[{(^=~]|\\$)/.test(text)
    ? `${text.slice(0, 40)} means something else in another shell`
    : null;

/** It has a program among its words that reads texts as lines. */
export const readsAgain = (step: Step): boolean =>
  step.kind === 'command' &&
  step.words.some((word) => {
    const text = word.map((piece) => (piece.kind === 'text' ? piece.value : '')).join('');
    return shells.has(baseName(text)) || /^(?:eval|trap|alias|source|\.|su|ssh|watch|xargs)$/.test(text);
  });
