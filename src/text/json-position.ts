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

const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Index behind the string that begins here; null where none does. By hand: an expression is out of stack after eight million steps. */
function behindString(text: string, start: number): number | null {
  if (text.charCodeAt(start) !== 0x22) return null;
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return null;
    if (code !== 0x5c) continue;
    escaped.lastIndex = at + 1;
    const found = escaped.exec(text);
    if (found === null) return null;
    at += found[0].length;
  }
  return null;
}
const escaped = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;

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
  const takeString = (): boolean => {
    const end = behindString(text, at);
    if (end === null) return false;
    at = end;
    return true;
  };
  const skipBlanks = (): void => {
    while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at += 1;
  };
  for (;;) {
    skipBlanks();
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
      if (!takeString()) return at;
      skipBlanks();
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
    } else if (takeString() || take(scalar)) want = 'next';
    else return at;
  }
}
