import { fail, isFailure, type ToolFailure } from '../failure.ts';
import { numberLimit } from '../limits.ts';

const kib = 1024;
const mib = 1024 * kib;

/** Default and range of each limit that a chain may set (05 §4.3). */
const ranges = {
  _max_read_bytes: { fallback: mib, min: 1, max: 100 * mib },
  _max_output_bytes: { fallback: 64 * kib, min: kib, max: mib },
  _max_write_bytes: { fallback: 5 * mib, min: 1, max: 100 * mib },
  _max_list_depth: { fallback: 6, min: 1, max: 32 },
  _max_grep_matches: { fallback: 1000, min: 1, max: 50_000 },
} as const;

export type FileLimit = keyof typeof ranges;
export type FileLimits = Readonly<Record<FileLimit, number>>;

/** All limits of `tools_policies.local_fs`: one that is not valid refuses every call. */
export function fileLimits(limits: Readonly<Record<string, string>>): FileLimits | ToolFailure {
  const result: Record<FileLimit, number> = { ...defaults };
  // True because `ranges` is the object of exactly these keys.
  for (const key of Object.keys(ranges) as FileLimit[]) {
    const value = numberLimit(limits, key, ranges[key]);
    if (isFailure(value)) return value;
    result[key] = value;
  }
  return result;
}

const defaults: FileLimits = {
  _max_read_bytes: ranges._max_read_bytes.fallback,
  _max_output_bytes: ranges._max_output_bytes.fallback,
  _max_write_bytes: ranges._max_write_bytes.fallback,
  _max_list_depth: ranges._max_list_depth.fallback,
  _max_grep_matches: ranges._max_grep_matches.fallback,
};

export const writeTooLarge = (given: string, bytes: number, max: number): ToolFailure =>
  fail('too_large', `"${given}" would have ${bytes} bytes; _max_write_bytes is ${max}.`, { bytes, max_bytes: max });
