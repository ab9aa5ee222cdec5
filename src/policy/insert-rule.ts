/** Where the list of rules stands in the text of a document: its own place, and that of each rule. */
type Places = {
  /** Behind the opening bracket, and at the closing one. */
  readonly start: number;
  readonly end: number;
  readonly rules: readonly { readonly start: number; readonly end: number }[];
};

/**
 * The text of a document with one more rule at a place of its list, every other byte unchanged; a document without rules
 * gets a list. Null when there is no place for it. The text must be valid JSON.
 */
export function insertRule(text: string, index: number, rule: string): string | null {
  const places = findRules(text);
  if (places === null) return index === 0 && !text.includes('"rules"') ? withFirstRule(text, rule) : null;
  if (index > places.rules.length) return null;
  const next = places.rules[index];
  if (next !== undefined) {
    return `${text.slice(0, next.start)}${rule},${gapBefore(text, next.start)}${text.slice(next.start)}`;
  }
  const last = places.rules.at(-1);
  if (last === undefined) return `${text.slice(0, places.start)}${rule}${text.slice(places.end)}`;
  return `${text.slice(0, last.end)},${gapBefore(text, last.start)}${rule}${text.slice(last.end)}`;
}

/** A document that says nothing of rules, with a list of one. */
function withFirstRule(text: string, rule: string): string | null {
  const start = text.indexOf('{') + 1;
  if (start === 0) return null;
  const more = /^\s*\}/.test(text.slice(start)) ? '' : ', ';
  return `${text.slice(0, start)} "rules": [${rule}]${more}${text.slice(start)}`;
}

/** The blanks before a rule, so that the new one stands as the others do. */
function gapBefore(text: string, at: number): string {
  const gap = /[ \t\r\n]*$/.exec(text.slice(0, at))?.[0] ?? '';
  return gap.includes('\n') ? gap.slice(gap.lastIndexOf('\n')) : ' ';
}

/** Walks the text once: the member `rules` of the outermost object, and the elements of its list. */
function findRules(text: string): Places | null {
  let depth = 0;
  let start = -1;
  let element = -1;
  const rules: { start: number; end: number }[] = [];
  const close = (at: number): void => {
    if (element >= 0) rules.push({ start: element, end: at });
    element = -1;
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') {
      const end = stringEnd(text, at);
      if (start < 0 && depth === 1 && text.slice(at, end) === '"rules"') {
        const list = /^\s*:\s*\[/.exec(text.slice(end))?.[0];
        if (list !== undefined) {
          start = end + list.length;
          depth += 1;
          at = start - 1;
          continue;
        }
      }
      if (start >= 0 && depth === 2 && element < 0) element = at;
      at = end - 1;
    } else if (char === '{' || char === '[') {
      if (start >= 0 && depth === 2 && element < 0) element = at;
      depth += 1;
    } else if (char === '}' || char === ']') {
      depth -= 1;
      if (start >= 0 && depth === 1) {
        close(lastInk(text, at));
        return { start, end: at, rules };
      }
    } else if (char === ',' && start >= 0 && depth === 2) close(lastInk(text, at));
  }
  return null;
}

/** Behind the last character before `at` that is no blank. */
function lastInk(text: string, at: number): number {
  let end = at;
  while (end > 0 && ' \t\r\n'.includes(text.charAt(end - 1))) end -= 1;
  return end;
}

/** Behind the closing quote of the string that begins at `from`. */
function stringEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}
