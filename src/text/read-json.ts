/**
 * What a stored text holds; the other value when it is no JSON any more: one damaged row must not keep the others from
 * being shown (11 §2.12). Only for what is shown. What is acted on is read with `JSON.parse`.
 */
export function readJson<T>(text: string, otherwise: T): T {
  try {
    // Written by the program in the form that is read here.
    return JSON.parse(text) as T;
  } catch {
    return otherwise;
  }
}
