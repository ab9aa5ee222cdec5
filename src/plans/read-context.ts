import { RepoContext } from '../schema/plan.ts';
import { is } from 'superstruct';
import { outermostJson } from './read-steps.ts';

/** Bytes of a text, entries of a list, bytes of the whole (07 §4.8). */
const maxTextBytes = 4096;
const mostEntries = 200;
const maxBytes = 64 * 1024;

/**
 * Reads what an explorer found (07 §4.8): unknown members are dropped, anything else that is wrong refuses it.
 * @param at milliseconds, the time when the answer names none of its own
 */
export function readContext(
  answer: string,
  root: string,
  at: number,
): { readonly ok: true; readonly context: RepoContext } | { readonly ok: false; readonly reason: string } {
  const found = outermostJson(answer);
  if (typeof found !== 'object' || found === null || Array.isArray(found)) return refused('it holds no JSON object');
  const given = found as Readonly<Record<string, unknown>>;
  const list = (name: string): unknown => given[name] ?? [];
  const files = list('key_files');
  const context: unknown = {
    schema_version: given['schema_version'] ?? 1,
    repo_root: given['repo_root'] ?? root,
    languages: list('languages'),
    entry_points: list('entry_points'),
    build_commands: list('build_commands'),
    test_commands: list('test_commands'),
    conventions: list('conventions'),
    key_files: Array.isArray(files) ? files.map(keyFile) : files,
    caveats: list('caveats'),
    generated_at: given['generated_at'] ?? new Date(at).toISOString(),
  };
  if (!is(context, RepoContext)) return refused('a member of it is missing or of another type');
  const problem = tooLarge(context);
  return problem === null ? { ok: true, context } : refused(problem);
}

const keyFile = (entry: unknown): unknown => {
  if (typeof entry !== 'object' || entry === null) return entry;
  const { path, role } = entry as Readonly<Record<string, unknown>>;
  return { path, role: role ?? '' };
};

function tooLarge(context: RepoContext): string | null {
  const lists = Object.entries(context).filter(([, value]) => Array.isArray(value));
  for (const [name, value] of lists) {
    if (Array.isArray(value) && value.length > mostEntries) return `"${name}" has more than ${mostEntries} entries`;
  }
  const texts = Object.values(context)
    .flat()
    .flatMap((value) => (typeof value === 'object' ? Object.values(value) : [value]));
  if (texts.some((text) => typeof text === 'string' && Buffer.byteLength(text) > maxTextBytes)) {
    return `a text in it is above ${maxTextBytes} bytes`;
  }
  return Buffer.byteLength(JSON.stringify(context)) > maxBytes ? `it is above ${maxBytes} bytes` : null;
}

const refused = (reason: string) => ({ ok: false as const, reason });
