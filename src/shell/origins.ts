import type { CommandWord, Origin } from '../schema/command.ts';
import { isPattern } from '../text/file-pattern.ts';
import { printed } from './printed.ts';
import type { ScriptWord, Step } from './script.ts';

/** Most commands that are kept for one text: what comes from more of them may be anything. */
const maxOrigins = 64;

type Command = Extract<Step, { kind: 'command' }>;
type Expand = (word: ScriptWord) => readonly CommandWord[];

/** The text comes from somewhere that the line does not show. */
export const anything: Origin = { kind: 'file' };

/** What a word comes from that is given to a name: of one that only the shell knows, as far as that is known. */
export const givers = ({ path, open, unknown }: CommandWord): readonly Origin[] => {
  if (unknown !== undefined) return unknown.origins;
  return !open || isPattern(path) ? [{ kind: 'text', text: path }] : [];
};

/** What these steps print: their commands but for those that another one of them reads, or takes into its words. */
export const originsOf = (steps: readonly Step[], expand: Expand): readonly Origin[] =>
  printedBy(steps, expand, { left: maxOrigins });

function printedBy(steps: readonly Step[], expand: Expand, most: { left: number }): readonly Origin[] {
  const commands = steps.filter((step) => step.kind === 'command');
  const taken = new Set(commands.flatMap(({ input, words }) => [...input, ...words.flatMap(substituted)]));
  return commands
    .filter((step) => !taken.has(step))
    .flatMap((step) =>
      // `$(<file)` prints what it reads.
      step.words.length > 0 ? [origin(step, expand, most)] : readBy({ ...step, input: [] }, expand, most),
    );
}

function origin(step: Command, expand: Expand, most: { left: number }): Origin {
  most.left -= 1;
  if (most.left < 0) return anything;
  const words = step.words.flatMap((word) => expand(word));
  return { kind: 'printed', words, input: readBy(step, expand, most), texts: printed(words) };
}

/** What a command reads: what its redirections open, else what stands before its pipe. */
export const inputOrigins = (step: Command, expand: Expand): readonly Origin[] =>
  readBy(step, expand, { left: maxOrigins });

function readBy({ redirects, input }: Command, expand: Expand, most: { left: number }): readonly Origin[] {
  const opened = redirects.flatMap(({ operator, target, body }): readonly Origin[] => {
    if (body !== null) return [{ kind: 'text', text: body }, ...(/[$`]/.test(body) ? [anything] : [])];
    if (target === null || !operator.startsWith('<')) return [];
    // A descriptor that the line has opened; the first one is what it reads anyway.
    if (operator === '<&') return expand(target).some(({ text }) => !/^(?:0|-)$/.test(text)) ? [anything] : [];
    const inside =
      operator === '<' ? target.flatMap((piece) => (piece.kind === 'open' ? (piece.steps ?? []) : [])) : [];
    if (inside.length > 0) return printedBy(inside, expand, most);
    if (operator !== '<<<') return [anything];
    const words = expand(target);
    const known = words.every(({ open }) => !open);
    if (known) return [{ kind: 'text', text: words.map(({ text }) => text).join(' ') }];
    return words.flatMap(({ unknown }) => unknown?.origins ?? []);
  });
  return opened.length > 0 ? opened : printedBy(input, expand, most);
}

const substituted = (word: ScriptWord): readonly Step[] =>
  word.flatMap((piece) => (piece.kind === 'output' ? piece.steps : []));
