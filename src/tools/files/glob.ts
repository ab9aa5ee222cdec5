/**
 * Globs of 05 §4.8: `*`, `?`, `[..]`, `{a,b}`, `**`. Own code, because a pattern is a model's text: the common library
 * compiles to expressions that backtrack, and six stars kept it busy for ten seconds. Here time is at most pattern
 * times path.
 */
export type Glob = {
  /** @param path relative, with `/`; a pattern without `/` looks at the last segment only */
  matches(path: string): boolean;
};

const maxAlternatives = 1024;

type Token = { readonly kind: 'star' } | { readonly kind: 'one'; test(character: string): boolean };
/** A whole segment `**`, or what one segment must look like. */
type Segment = 'any' | readonly Token[];

/** @returns the end of a sentence about the pattern when it is not a glob */
export function compileGlob(pattern: string): Glob | string {
  const hopeless = neverMatches(pattern);
  if (hopeless !== null) return hopeless;
  const alternatives = expandBraces(pattern.replace(/^(?:\.\/)+/, ''));
  if (typeof alternatives === 'string') return alternatives;
  const compiled: { readonly whole: boolean; readonly segments: readonly Segment[] }[] = [];
  for (const alternative of alternatives) {
    const segments: Segment[] = [];
    for (const text of alternative.split('/')) {
      const segment = text === '**' ? 'any' : compileSegment(text);
      if (typeof segment === 'string' && segment !== 'any') return segment;
      segments.push(segment);
    }
    compiled.push({ whole: alternative.includes('/'), segments });
  }
  return {
    matches(path) {
      const parts = path.split('/');
      const last = parts.slice(-1);
      return compiled.some(({ whole, segments }) => matchSegments(segments, whole ? parts : last));
    },
  };
}

/** Without a word, "no files match" would read as if there were none. */
function neverMatches(pattern: string): string | null {
  const relative = 'it is matched against paths relative to "path": give the directory there';
  if (pattern.startsWith('/') || pattern.startsWith('~/'))
    return `must not begin with a directory from outside; ${relative}`;
  if (/(?:^|\/)\.\.(?:\/|$)/.test(pattern)) return `must not hold ".."; ${relative}`;
  return pattern.endsWith('/') ? 'must not end in "/", since it names files; all below a directory is "dir/**"' : null;
}

/** Alternatives written out; a brace without a comma stands for what it holds. */
function expandBraces(pattern: string): readonly string[] | string {
  const open = findUnescaped(pattern, '{');
  if (open < 0) return findUnescaped(pattern, '}') < 0 ? [pattern] : 'has a } without a {';
  const parts: string[] = [];
  let depth = 0;
  let from = open + 1;
  let end = -1;
  for (let at = open; at < pattern.length && end < 0; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '{') depth += 1;
    else if (character === ',' && depth === 1) {
      parts.push(pattern.slice(from, at));
      from = at + 1;
    } else if (character === '}') {
      depth -= 1;
      if (depth === 0) end = at;
    }
  }
  if (end < 0) return 'has a { without a }';
  parts.push(pattern.slice(from, end));
  const rest = expandBraces(pattern.slice(end + 1));
  if (typeof rest === 'string') return rest;
  const result: string[] = [];
  for (const part of parts) {
    const inner = expandBraces(part);
    if (typeof inner === 'string') return inner;
    for (const middle of inner) {
      for (const tail of rest) result.push(pattern.slice(0, open) + middle + tail);
      if (result.length > maxAlternatives) return `stands for more than ${maxAlternatives} patterns`;
    }
  }
  return result;
}

function findUnescaped(text: string, wanted: string): number {
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === wanted) return at;
  }
  return -1;
}

function compileSegment(text: string): readonly Token[] | string {
  const characters = [...text];
  const tokens: Token[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? '';
    if (character === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' });
    } else if (character === '?') {
      tokens.push({ kind: 'one', test: () => true });
    } else if (character === '[') {
      const end = classEnd(characters, at);
      if (end < 0) return 'has a [ without a ]';
      tokens.push({ kind: 'one', test: classTest(characters.slice(at + 1, end)) });
      at = end;
    } else {
      if (character === '\\' && at + 1 < characters.length) at += 1;
      const wanted = characters[at];
      tokens.push({ kind: 'one', test: (other) => other === wanted });
    }
  }
  return tokens;
}

/** A `]` directly behind the opening or its negation is a member. */
function classEnd(characters: readonly string[], open: number): number {
  const negated = characters[open + 1] === '!' || characters[open + 1] === '^';
  return characters.indexOf(']', open + (negated ? 3 : 2));
}

function classTest(members: readonly string[]): (character: string) => boolean {
  const negated = members[0] === '!' || members[0] === '^';
  const list = negated ? members.slice(1) : members;
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < list.length; at += 1) {
    const from = list[at] ?? '';
    const to = list[at + 2];
    const isRange = list[at + 1] === '-' && to !== undefined;
    ranges.push([from, isRange ? to : from]);
    if (isRange) at += 2;
  }
  return (character) => ranges.some(([from, to]) => character >= from && character <= to) !== negated;
}

/** Both loops return to the last star only: a later star can do all that an earlier one could. */
function matchSegments(pattern: readonly Segment[], parts: readonly string[]): boolean {
  let at = 0;
  let part = 0;
  let star = -1;
  let resume = 0;
  while (part < parts.length) {
    const segment = pattern[at];
    if (segment === 'any') {
      star = at;
      resume = part;
      at += 1;
    } else if (segment !== undefined && matchSegment(segment, parts[part] ?? '')) {
      at += 1;
      part += 1;
    } else if (star >= 0) {
      resume += 1;
      part = resume;
      at = star + 1;
    } else {
      return false;
    }
  }
  while (pattern[at] === 'any') at += 1;
  return at === pattern.length;
}

function matchSegment(tokens: readonly Token[], text: string): boolean {
  const characters = [...text];
  let at = 0;
  let index = 0;
  let star = -1;
  let resume = 0;
  while (index < characters.length) {
    const token = tokens[at];
    if (token?.kind === 'star') {
      star = at;
      resume = index;
      at += 1;
    } else if (token?.test(characters[index] ?? '') === true) {
      at += 1;
      index += 1;
    } else if (star >= 0) {
      resume += 1;
      index = resume;
      at = star + 1;
    } else {
      return false;
    }
  }
  while (tokens[at]?.kind === 'star') at += 1;
  return at === tokens.length;
}
