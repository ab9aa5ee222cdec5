/**
 * Where a text stops being JSON: line and column from 1, or null when it is JSON. The engine's own message has a
 * position for some mistakes only. Depth is bounded by the text, not by the stack.
 */
export function jsonErrorPosition(text: string): { readonly line: number; readonly column: number } | null {
  const at = firstError(text);
  if (at === null) return null;
  const before = text.slice(0, at);
  return { line: before.split('\n').length, column: at - before.lastIndexOf('\n') };
}

const blank = /[ \t\n\r]*/y;
const scalar =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const key = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

function firstError(text: string): number | null {
  const open: ('{' | '[')[] = [];
  let at = 0;
  let want: 'value' | 'first' | 'key' | 'firstKey' | 'next' = 'value';
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return false;
    at += match[0].length;
    return true;
  };
  for (;;) {
    take(blank);
    const char = text[at];
    if (want === 'next') {
      const inside = open.at(-1);
      if (inside === undefined) return at === text.length ? null : at;
      if (char === (inside === '{' ? '}' : ']')) open.pop();
      else if (char === ',') want = inside === '{' ? 'key' : 'value';
      else return at;
      at += 1;
    } else if (want === 'key' || want === 'firstKey') {
      if (want === 'firstKey' && char === '}') {
        open.pop();
        at += 1;
        want = 'next';
        continue;
      }
      if (!take(key)) return at;
      take(blank);
      if (text[at] !== ':') return at;
      at += 1;
      want = 'value';
    } else if (want === 'first' && char === ']') {
      open.pop();
      at += 1;
      want = 'next';
    } else if (char === '{' || char === '[') {
      open.push(char);
      at += 1;
      want = char === '{' ? 'firstKey' : 'first';
    } else if (take(scalar)) want = 'next';
    else return at;
  }
}
