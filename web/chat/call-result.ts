/** A result that is JSON, indented; a text alone is that text. */
export function readableResult(result: string): string {
  try {
    const value: unknown = JSON.parse(result);
    if (typeof value === 'string') return value;
    if (typeof value !== 'object' || value === null) return result;
    const { stdout, stderr, ...rest } = value as Record<string, unknown>;
    if (typeof stdout !== 'string') return JSON.stringify(value, null, 2);
    const facts = Object.entries(rest)
      .map(([key, each]) => `${key}: ${typeof each === 'string' ? each : JSON.stringify(each)}`)
      .join('\n');
    return [stdout, typeof stderr === 'string' && stderr !== '' ? `stderr:\n${stderr}` : '', facts]
      .filter((part) => part !== '')
      .join('\n');
  } catch {
    return result;
  }
}
