/**
 * A URL as its parser reads it; null where it is none. `URL.canParse` is not asked anywhere: once V8 has made it fast,
 * the one of Node 20 refuses every text with a letter between U+0080 and U+00FF and no other beyond them.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/** Whether a text begins as URLs do. As a path it would name a directory such as `file:`, which nobody means. */
export const isUrl = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
