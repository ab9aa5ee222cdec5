import type { CommandWord } from '../schema/command.ts';
import { wildcard } from './wildcard.ts';

/** What an expression of `find` may make of a path: it may hold, it may fail, and something may be done with it. */
type May = { readonly hold: boolean; readonly fail: boolean; readonly act: boolean };

/** A path as `find` prints it, its last segment, and whether it is a directory, as far as that is known. */
type Fact = { readonly path: string; readonly name: string; readonly kind: Kind };
export type Kind = 'directory' | 'full directory' | 'other' | 'unknown';
type Test = (fact: Fact) => May;

const either: Test = () => ({ hold: true, fail: true, act: false });
const always: Test = () => ({ hold: true, fail: false, act: false });

/** Tests by name: on the last segment or the whole path, with case or without. */
const named: Readonly<Record<string, { readonly of: 'path' | 'name'; readonly folds: boolean }>> = {
  '-name': { of: 'name', folds: false },
  '-iname': { of: 'name', folds: true },
  '-path': { of: 'path', folds: false },
  '-ipath': { of: 'path', folds: true },
  '-wholename': { of: 'path', folds: false },
  '-iwholename': { of: 'path', folds: true },
};
/** Words that take the word behind them; of the acting ones, too. */
const valued =
  /^-(regex|iregex|lname|ilname|type|xtype|size|[mac]time|[mac]min|newer\w*|anewer|cnewer|perm|user|group|uid|gid|links|inum|samefile|fstype|maxdepth|mindepth|used|context|regextype|files0-from|printf|fprint0?|fls|fprintf)$/;
const acting = /^-(print0?|printf|fprint0?|fprintf|ls|fls|delete|exec|execdir|ok|okdir|quit)$/;
const starting = /^-(exec|execdir|ok|okdir)$/;

/** A path as the words of a `find` look at it. */
export type FindTests = {
  /** Where it begins; the directory of the line where it names none. */
  readonly places: readonly CommandWord[];
  /** Something is asked of names. */
  readonly narrowed: boolean;
  /** Whether something may be done with a path, as `find` spells it. */
  mayGive(path: string, kind: Kind): boolean;
  /** As `mayGive`, of a last segment. */
  mayGiveName(name: string, kind: Kind): boolean;
  /** Whether something is done with files of this name, which stand at any depth, and not with those of most others. */
  asksFor(name: string): boolean;
};

/** Reads the words behind `find`. What is not known of them may hold and may fail. */
export function findTests(rest: readonly CommandWord[]): FindTests {
  const first = rest.findIndex(
    ({ text }, index) => /^(?:-(?![HLPDO])|[(!,])/.test(text) && rest[index - 1]?.text !== '-D',
  );
  const from = first === -1 ? rest.length : first;
  const places = rest
    .slice(0, from)
    .filter(({ text }, index) => !text.startsWith('-') && rest[index - 1]?.text !== '-D');
  const expression = rest.slice(from);
  const test = expression.length === 0 ? either : createReader(expression)();
  const acts = expression.some(({ text, open }) => open || acting.test(text));
  const given = (fact: Fact): boolean => {
    const may = test(fact);
    return acts ? may.act : may.hold;
  };
  const gives = (name: string, kind: Kind = 'unknown'): boolean => given({ path: '', name, kind });
  const narrowed = expression.some(({ text }) => Object.hasOwn(named, text));
  return {
    places,
    narrowed,
    mayGive: (path, kind) => given({ path, name: path.slice(path.lastIndexOf('/') + 1), kind }),
    mayGiveName: gives,
    asksFor: (name) => narrowed && gives(name) && !gives('some.name/'),
  };
}

/** The grammar of an expression: `,` binds least, then `-o`, then `-a` or nothing, then `!`. */
function createReader(words: readonly CommandWord[]): () => Test {
  let at = 0;
  const take = (...texts: readonly string[]): boolean => {
    const found = texts.includes(words[at]?.text ?? '');
    if (found) at += 1;
    return found;
  };
  const list = (): Test => {
    let left = alternatives();
    while (take(',')) left = both(left, alternatives());
    return left;
  };
  const alternatives = (): Test => {
    let left = sequence();
    while (take('-o', '-or')) left = or(left, sequence());
    return left;
  };
  const sequence = (): Test => {
    let left = negated();
    while (at < words.length && !/^(?:-o|-or|,|\))$/.test(words[at]?.text ?? '')) {
      take('-a', '-and');
      left = and(left, negated());
    }
    return left;
  };
  const negated = (): Test => {
    let turned = false;
    while (take('!', '-not')) turned = !turned;
    const test = primary();
    return turned ? (fact) => not(test(fact)) : test;
  };
  const primary = (): Test => {
    if (take('(')) {
      const inner = list();
      take(')');
      return inner;
    }
    const word = words[at];
    at += 1;
    return word === undefined ? either : single(word);
  };
  const single = ({ text, open }: CommandWord): Test => {
    if (open) return () => ({ hold: true, fail: true, act: true });
    if (Object.hasOwn(named, text)) {
      const pattern = words[at];
      at += 1;
      return nameTest(text, pattern);
    }
    if (starting.test(text)) {
      while (at < words.length && !/^[;+]$/.test(words[at]?.text ?? '')) at += 1;
      at += 1;
    } else if (valued.test(text)) at += text === '-fprintf' ? 2 : 1;
    if (text === '-type') return typeTest(words[at - 1]?.text ?? '');
    if (text === '-empty') return (fact) => ({ ...either(fact), hold: fact.kind !== 'full directory' });
    if (acting.test(text)) return () => ({ hold: true, fail: starting.test(text), act: true });
    return text === '-prune' || text === '-true' || text === '-depth' ? always : either;
  };
  return () => {
    let test = list();
    // What stands behind it is no expression that is known.
    while (at < words.length) {
      at += 1;
      test = and(either, test);
    }
    return test;
  };
}

/** Of the types only these two are told apart. */
function typeTest(type: string): Test {
  if (type !== 'd' && type !== 'f') return either;
  return (fact) => {
    const isDirectory = fact.kind === 'directory' || fact.kind === 'full directory';
    return { ...either(fact), hold: fact.kind === 'unknown' || isDirectory === (type === 'd') };
  };
}

function nameTest(option: string, pattern: CommandWord | undefined): Test {
  const { of, folds } = named[option] ?? { of: 'name', folds: false };
  if (pattern === undefined || pattern.open) return either;
  const matches = wildcard(folds ? pattern.text.toLowerCase() : pattern.text);
  return (fact) => {
    if (matches === null || fact[of] === '') return either(fact);
    const hold = matches(folds ? fact[of].toLowerCase() : fact[of]);
    return { hold, fail: !hold, act: false };
  };
}

const not = ({ hold, fail, act }: May): May => ({ hold: fail, fail: hold, act });

const and =
  (left: Test, right: Test): Test =>
  (fact) => {
    const first = left(fact);
    if (!first.hold) return first;
    const second = right(fact);
    return { hold: second.hold, fail: first.fail || second.fail, act: first.act || second.act };
  };

const or =
  (left: Test, right: Test): Test =>
  (fact) => {
    const first = left(fact);
    if (!first.fail) return first;
    const second = right(fact);
    return { hold: first.hold || second.hold, fail: second.fail, act: first.act || second.act };
  };

const both =
  (left: Test, right: Test): Test =>
  (fact) => {
    const [first, second] = [left(fact), right(fact)];
    return { ...second, act: first.act || second.act };
  };
