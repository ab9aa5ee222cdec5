/**
 * The text of a JSON object with another value for one of its own members; every other character stays. A member that is
 * not there is added behind the last one. Lines and indentation follow the text.
 * @param text of a valid JSON object, a byte order mark allowed
 */
export function withMember(text: string, name: string, value: unknown): string {
  const members = membersOf(text);
  const { open, close } = members;
  const found = members.list.find((member) => member.name === name);
  const last = members.list.at(-1);
  const indent = indentAt(text, (found ?? last)?.start ?? open + 1);
  const unit = indent ?? '';
  const written =
    indent === null ? JSON.stringify(value) : JSON.stringify(value, null, unit).replaceAll('\n', `\n${unit}`);
  if (found !== undefined) return text.slice(0, found.from) + written + text.slice(found.to);
  const member = `${JSON.stringify(name)}:${indent === null ? '' : ' '}${written}`;
  if (last === undefined) return `${text.slice(0, open + 1)}${member}${text.slice(close)}`;
  const gap = indent === null ? ',' : `,\n${indent}`;
  return text.slice(0, last.to) + gap + member + text.slice(last.to);
}

/** `start` of the name, `from` and `to` of the value. */
type Member = { readonly name: string; readonly start: number; readonly from: number; readonly to: number };

/** The members of the outermost object. The text is valid, so that strings and brackets are all there is to see. */
function membersOf(text: string): { readonly open: number; readonly close: number; readonly list: readonly Member[] } {
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:\ufeff]+/g;
  const list: Member[] = [];
  let depth = 0;
  let open = 0;
  let pending: { readonly name: string; readonly start: number; from: number | null; to: number } | null = null;
  const finish = (): void => {
    if (pending?.from != null) list.push({ ...pending, from: pending.from });
    pending = null;
  };
  for (const match of text.matchAll(token)) {
    const [piece] = match;
    const start = match.index;
    if (piece === '}' || piece === ']') depth -= 1;
    if (depth === 0 && piece === '}') {
      finish();
      return { open, close: start, list };
    }
    if (depth === 0) open = start;
    else if (depth === 1 && piece === ',') finish();
    else if (pending === null) pending = { name: String(JSON.parse(piece)), start, from: null, to: start };
    else if (depth > 1 || piece !== ':') {
      pending.from ??= start;
      pending.to = start + piece.length;
    }
    if (piece === '{' || piece === '[') depth += 1;
  }
  return { open, close: text.length, list };
}

/** The blanks before a place when nothing else stands on its line; null when something does. */
function indentAt(text: string, place: number): string | null {
  const line = text.slice(text.lastIndexOf('\n', place - 1) + 1, place);
  return text.lastIndexOf('\n', place - 1) !== -1 && /^[ \t]*$/.test(line) ? line : null;
}
