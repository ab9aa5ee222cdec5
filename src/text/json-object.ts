export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a parsed value is an object of JSON: neither null nor a list. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object that a text holds; null for a text that is no JSON, and for JSON of another kind. Never throws. */
export function readObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
