import { fail, type ToolFailure } from './failure.ts';

type Limits = Readonly<Record<string, string>>;
type Range = { readonly fallback: number; readonly min: number; readonly max: number };

/** A number of `tools_policies`. What is not a number in range permits nothing: it never means "no limit" (05 §4.3). */
export function numberLimit(limits: Limits, key: string, range: Range): number | ToolFailure {
  const text = own(limits, key);
  if (text === null) return range.fallback;
  const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.min && value <= range.max) return value;
  return fail('not_permitted', `The chain's limit ${key} must be ${range.min} to ${range.max}; correct the chain.`, {
    limit: key,
  });
}

/** A comma list of `tools_policies`; null when the key is absent, which is not the same as an empty list. */
export function listLimit(limits: Limits, key: string): readonly string[] | null {
  const text = own(limits, key);
  if (text === null) return null;
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** Null where it is not set, or empty. */
export function textLimit(limits: Limits, key: string): string | null {
  const text = own(limits, key);
  return text === '' ? null : text;
}

const own = (limits: Limits, key: string): string | null =>
  Object.hasOwn(limits, key) ? (limits[key] ?? '').trim() : null;
