import { type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { usage } from '../schema/errors.ts';
import type { HookRow } from '../store/hooks.ts';
import { isUrl } from '../text/parse-url.ts';
import { systemReason } from '../text/system-reason.ts';
import { parseTarget, type Target } from '../tools/egress.ts';
import { checkHeaders, readTexts } from './backend-fields.ts';
import { namesPrivate, type NetworkDeps, originEgress } from './hook-egress.ts';

/** What a person may say about a hook (05 §9.1); null = not said. */
export type HookFields = {
  readonly url: string | null;
  /** Empty = the default. */
  readonly spec: string | null;
  /** The whole map; null inside it keeps the stored value of that name (09 §5.5). */
  readonly headers: Readonly<Record<string, string | null>> | null;
  readonly inject: Readonly<Record<string, string | null>> | null;
  readonly timeout_ms: number | null;
  readonly allow_private: boolean | null;
};

const defaultTimeoutMs = 10_000;
const maxInjects = 50;
const maxValueBytes = 8192;

export const freshHook = (id: string, name: string, at: number): HookRow => ({
  id,
  name,
  url: '',
  spec: null,
  timeout_ms: defaultTimeoutMs,
  allow_private: 0,
  headers: '{}',
  inject: '{}',
  spec_sha256: null,
  spec_etag: null,
  spec_fetched_at: null,
  last_error: null,
  created_at: at,
  updated_at: at,
});

/** A hook with the given fields changed, and what the operator is told. @throws RuntimeError usage */
export function applied(
  row: HookRow,
  fields: HookFields,
  deps: { readonly network: NetworkDeps; readonly cwd: string },
): { readonly row: HookRow; readonly notes: readonly string[] } {
  const { timeout_ms } = fields;
  if (timeout_ms !== null && !(Number.isInteger(timeout_ms) && timeout_ms >= 100 && timeout_ms <= 600_000)) {
    throw usage('--timeout takes 100 to 600000 milliseconds.');
  }
  if (fields.url === null && row.url === '') {
    throw usage('a hook needs --url', [`reins hook add ${row.name} --url <url>`]);
  }
  const target = fields.url === null ? null : baseUrl(fields.url);
  const isPrivate = target !== null && checkedOrigin(target, row.name, deps.network);
  const allowed = fields.allow_private ?? (target === null ? row.allow_private === 1 : isPrivate);
  const headers = fields.headers === null ? row.headers : mergedMap(row.headers, fields.headers);
  checkHeaders(readTexts(headers), 'A hook');
  const inject = fields.inject === null ? row.inject : mergedMap(row.inject, fields.inject);
  checkInjects(readTexts(inject));
  const notes =
    isPrivate && row.allow_private === 0
      ? [`${target?.host ?? ''} is a private address; it is reached as you named it`]
      : [];
  return {
    row: {
      ...row,
      url: target === null ? row.url : `${target.url.origin}${target.url.pathname.replace(/\/+$/, '')}`,
      spec: fields.spec === null ? row.spec : specOf(fields.spec, deps.cwd),
      timeout_ms: timeout_ms ?? row.timeout_ms,
      allow_private: allowed ? 1 : 0,
      headers,
      inject,
    },
    notes,
  };
}

function baseUrl(given: string): Target {
  const target = parseTarget(given);
  if (typeof target === 'string') throw usage(`The URL of a hook ${target}.`);
  if (target.url.search !== '' || target.url.hash !== '' || /[?#]/.test(given)) {
    throw usage('The URL of a hook must not hold a query or fragment; use --header or --inject for what it carries.');
  }
  return target;
}

/** @returns whether the text names a private address. @throws RuntimeError usage for one that is never reached (05 §9.2) */
function checkedOrigin(target: Target, name: string, network: NetworkDeps): boolean {
  const fault = originEgress(network, target, true, `register hook ${name} with another URL`).nameFault(target);
  if (fault !== null) throw usage(fault.message);
  return namesPrivate(network, target);
}

function specOf(given: string, cwd: string): string | null {
  if (given === '') return null;
  if (/^https?:\/\//i.test(given)) {
    const target = parseTarget(given);
    if (typeof target === 'string') throw usage(`The URL of --spec ${target}.`);
    return given;
  }
  if (isUrl(given)) throw usage('--spec takes an http or https URL, or the path of a file.');
  const path = resolve(cwd, given);
  let found: Stats | undefined;
  try {
    found = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw usage(`--spec: ${path} cannot be read: ${systemReason(error)}.`);
  }
  if (found === undefined) throw usage(`--spec: there is no file ${path}.`);
  // What it says is read again when it has grown old: a pipe says it once.
  if (!found.isFile()) throw usage(`--spec: ${path} is ${found.isDirectory() ? 'a directory' : 'no regular file'}.`);
  return path;
}

function mergedMap(stored: string, given: Readonly<Record<string, string | null>>): string {
  const before = readTexts(stored);
  const entries = Object.entries(given).map(([name, value]): [string, string] => {
    if (value !== null) return [name, value];
    if (Object.hasOwn(before, name)) return [name, before[name] ?? ''];
    throw usage(`There is no stored value for "${name.slice(0, 64)}" to keep.`);
  });
  return JSON.stringify(Object.fromEntries(entries));
}

function checkInjects(inject: Readonly<Record<string, string>>): void {
  const entries = Object.entries(inject);
  if (entries.length > maxInjects) throw usage(`A hook takes at most ${maxInjects} injected arguments.`);
  for (const [key, value] of entries) {
    if (key === '' || key.length > 200 || /[\u0000-\u001f]/.test(key))
      throw usage('--inject takes key=value; a key is one to 200 characters.');
    if (Buffer.byteLength(value) > maxValueBytes || value.includes('\0'))
      throw usage(`The value of --inject ${key} is longer than 8 KiB.`);
  }
}
