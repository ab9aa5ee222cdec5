/** `@path` words of a message (10 §6.4). */
export type Mention = {
  readonly path: string;
  /** Lines `from` to `to`, counted from 1; null = the whole file. */
  readonly lines: { readonly from: number; readonly to: number } | null;
  readonly directory: boolean;
};

export const mostMentions = 20;

const word = /(?<![^\s([{"'`])@(?:"([^"\n]+)"|([^\s"@][^\s"]*))/gu;

/** The mentions of a text in order, each once. `@@` is a literal at sign and begins none. */
export function mentionsOf(text: string): readonly Mention[] {
  const found = new Map<string, Mention>();
  for (const [whole, quoted, bare] of text.matchAll(word)) {
    const mention = readMention(quoted ?? (bare ?? '').replace(/[,;.!?)\]}'`]+$/, ''));
    if (mention !== null && !found.has(whole)) found.set(`${mention.path}:${JSON.stringify(mention.lines)}`, mention);
  }
  return [...found.values()];
}

function readMention(written: string): Mention | null {
  if (written === '') return null;
  const range = /^(.+):(\d{1,9})(?:-(\d{1,9}))?$/.exec(written);
  const path = range?.[1] ?? written;
  const from = Number(range?.[2] ?? 0);
  const to = Number(range?.[3] ?? range?.[2] ?? 0);
  const lines = range !== null && from > 0 && to >= from ? { from, to } : null;
  const whole = lines === null ? written : path;
  return { path: whole, lines, directory: whole.endsWith('/') };
}

/** What the model is sent: `@@` stands for one sign. */
export const literalAts = (text: string): string => text.replaceAll('@@', '@');

/** The `@` word that the caret stands in or behind, for the finder; null when there is none. */
export function mentionAt(text: string, caret: number): { readonly from: number; readonly query: string } | null {
  const start = text.lastIndexOf('@', caret - 1);
  if (start < 0 || (start > 0 && !/[\s([{"'`]/.test(text.charAt(start - 1)))) return null;
  const query = text.slice(start + 1, caret);
  const quoted = /^"[^"\n]*$/.test(query);
  if (!quoted && /[\s"@]/.test(query)) return null;
  return { from: start, query: quoted ? query.slice(1) : query };
}

/** How a path is written as a mention: in quotes where a bare word would be another one. */
export const writtenMention = (path: string): string => (/\s|^@|[,;.!?)\]}'`]$/.test(path) ? `@"${path}"` : `@${path}`);

/** Whether a mention can name it at all: one ends at a quote and at the end of its line. */
export const canBeMentioned = (path: string): boolean => !/["\p{Cc}]/u.test(path);
