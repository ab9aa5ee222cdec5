/** Most patterns that a glob may stand for, and most characters that they may have together. */
const maxAlternatives = 1024;
const maxExpandedLength = 1_048_576;
const tooMany = `the braces stand for more than ${maxAlternatives} patterns, or for too long ones`;

/** Every pattern that the braces stand for, or what is wrong with them. Classes and escapes keep their braces. */
export function expandBraces(source: string): readonly string[] | string {
  let at = 0;
  const sequence = (depth: number): readonly string[] | string => {
    let heads: readonly string[] | null = [''];
    while (at < source.length) {
      const char = source.charAt(at);
      if (depth > 0 && (char === ',' || char === '}')) return heads;
      if (char === '}') return 'a closing brace has no opening one';
      if (char === '{') {
        const group = alternatives(depth + 1);
        if (typeof group === 'string') return group;
        heads = joined(heads, group);
        if (heads === null) return tooMany;
        continue;
      }
      const end = literalEnd(source, at);
      if (end === null) return 'a character class is empty or not closed';
      const text = source.slice(at, end);
      at = end;
      heads = joined(heads, [text]);
      if (heads === null) return tooMany;
    }
    return depth > 0 ? 'a brace is not closed' : heads;
  };
  const alternatives = (depth: number): readonly string[] | string => {
    if (depth > 32) return 'the braces are nested more than 32 deep';
    const all: string[] = [];
    for (;;) {
      at += 1;
      const part = sequence(depth);
      if (typeof part === 'string') return part;
      all.push(...part);
      if (source.charAt(at) === '}') break;
    }
    at += 1;
    return all;
  };
  return sequence(0);
}

/** The place behind what stands at `at` and is no brace: an escape, a class, or plain text; null as with `classEnd`. */
function literalEnd(source: string, at: number): number | null {
  const char = source.charAt(at);
  if (char === '\\') return at + 2;
  if (char === '[') return classEnd(source, at);
  const special = /[\\[{},]/g;
  special.lastIndex = at + 1;
  return special.exec(source)?.index ?? source.length;
}

/** Each head with each tail behind it; null when that is more than a glob may stand for. */
function joined(heads: readonly string[], tails: readonly string[]): readonly string[] | null {
  if (heads.length * tails.length > maxAlternatives) return null;
  const all: string[] = [];
  let length = 0;
  for (const head of heads) {
    for (const tail of tails) {
      all.push(head + tail);
      length += head.length + tail.length;
    }
  }
  return length > maxExpandedLength ? null : all;
}

/** The place behind the `]` of the class that begins at `open`; null when it is empty, unclosed or holds a slash. */
export function classEnd(source: string, open: number): number | null {
  let at = open + 1;
  if (source.charAt(at) === '!' || source.charAt(at) === '^') at += 1;
  const first = at;
  for (; at < source.length; at += 1) {
    const char = source.charAt(at);
    if (char === ']') return at === first ? null : at + 1;
    if (char === '/') return null;
    if (char === '\\') at += 1;
  }
  return null;
}
