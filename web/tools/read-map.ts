/** What a map field says: null keeps the stored value of a name. */
export function readMap(text: string): Record<string, string | null> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line): [string, string | null] => {
      const colon = line.indexOf(':');
      if (colon === -1) return [line.trim(), null];
      const value = line.slice(colon + 1).trim();
      return [line.slice(0, colon).trim(), value === '' ? null : value];
    }),
  );
}
