/** Most patterns that a glob may stand for, and most characters that they may have together. */
const maxAlternatives = 1024;
const maxExpandedLength = 1_048_576;

/** Every pattern that the braces stand for, or what is wrong with them. Classes and escapes keep their braces. */
export function expandBraces(source: string): readonly string[] | string {
  let at = 0;
  let length = 0;
  const sequence = (depth: number): string[] | string => {
    let heads = [''];
    const join = (tails: readonly string[]): boolean => {
      if (heads.length * tails.length > maxAlternatives) return false;
      const [only] = tails;
      heads =
        only !== undefined && tails.length === 1
          ? heads.map((head) => head + only)
          : heads.flatMap((head) => tails.map((tail) => head + tail));
      length = heads.reduce((sum, head) => sum + head.length, 0);
      return length <= maxExpandedLength;
    };
    const tooMany = `the braces stand for more than ${maxAlternatives} patterns, or for too long ones`;
    while (at < source.length) {
      const char = source.charAt(at);
      if (depth > 0 && (char === ',' || char === '}')) return heads;
      if (char === '}') return 'a closing brace has no opening one';
      let end = at + 1;
      if (char === '{') {
        const group = alternatives(depth + 1);
        if (typeof group === 'string') return group;
        if (!join(group)) return tooMany;
        continue;
      }
      if (char === '\\') end = at + 2;
      else if (char === '[') {
        const close = classEnd(source, at);
        if (close === null) return 'a character class is empty or not closed';
        end = close;
      } else {
        const plain = /[\\[{},]/g;
        plain.lastIndex = at + 1;
        end = plain.exec(source)?.index ?? source.length;
      }
      const text = source.slice(at, end);
      at = end;
      if (!join([text])) return tooMany;
    }
    return depth > 0 ? 'a brace is not closed' : heads;
  };
  const alternatives = (depth: number): string[] | string => {
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
