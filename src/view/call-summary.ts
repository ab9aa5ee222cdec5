/** A tool that nobody registered has no toolset. */
export const callName = ({ tools, tool }: { readonly tools: string; readonly tool: string }): string =>
  tools === '' ? tool : `${tools}.${tool}`;

/** Arguments that say best what a call is about, in this order. */
const telling = ['command', 'path', 'file', 'url', 'pattern', 'query', 'text', 'message', 'name'];

/**
 * One short line for a call whose ask or result is not known yet: command line, path, URL, else the first plain
 * argument. Not escaped; at most 120 characters.
 */
export function callSummary(args: unknown): string {
  // Of a refused call: what the model wrote, and no JSON.
  if (typeof args === 'string') return clip(args);
  if (typeof args !== 'object' || args === null) return '';
  const entries = Object.entries(args);
  const value = (key: string): unknown => entries.find(([name]) => name === key)?.[1];
  for (const key of telling) {
    const found = value(key);
    if (typeof found !== 'string' || found === '') continue;
    return clip(key === 'command' ? [found, ...words(value('args'))].join(' ') : found);
  }
  const first = entries.find(([, each]) => typeof each === 'string' || typeof each === 'number');
  return first === undefined ? '' : clip(String(first[1]));
}

const words = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.map(String) : typeof value === 'string' && value !== '' ? [value] : [];

/** For a line among others that are not escaped one by one; a cut is said. */
export const firstLine = (text: string): string => {
  const line = text.split(/\r?\n/, 1)[0] ?? '';
  return line === text ? line : `${line}…`;
};

/** The beginning of a text, for a line among others. */
export const clip = (text: string): string => {
  const line = firstLine(text);
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
};
