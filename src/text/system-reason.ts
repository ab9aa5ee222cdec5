import { quoteAll } from './quote.ts';
import { codeOf, messageOf } from './thrown.ts';

/**
 * What the system said, for a sentence that names the path itself: `permission denied`. Node's own text repeats the path
 * and names the call, and of a file that is written under another name first it would show that name.
 */
export function systemReason(error: unknown): string {
  // Of the system's own words, "illegal operation" sounds like a fault of somebody else.
  if (codeOf(error) === 'EISDIR') return 'it is a directory';
  const message = messageOf(error);
  // With the directories above it, one is there already only where something else has its name.
  if (/^EEXIST: .*, mkdir /s.test(message)) return 'not a directory';
  return /^E[A-Z0-9]+: (.+?), [a-z]+(?: '.*)?$/s.exec(message)?.[1] ?? message;
}

const refused: ReadonlySet<string | null> = new Set(['EACCES', 'EPERM', 'EROFS']);

/** What it is that a file cannot be written: a place that is not to be written to (11 §2.12), or a disk that does not take it. */
export const writeFault = (error: unknown): 'config_invalid' | 'storage' =>
  refused.has(codeOf(error)) ? 'config_invalid' : 'storage';

/** The end of a sentence about what could not be kept: where, why, and the command that shows more. */
export function notKeptIn(directory: string, error: unknown): string {
  const above = directory.slice(0, Math.max(directory.lastIndexOf('/'), 1));
  return `in ${directory}: ${systemReason(error)} (see: ${lookAt(error, above, directory)})`;
}

/** The command that shows why a file could not be made or read there: how many may be open, its space, or who may do it. */
export const lookAt = (error: unknown, ...paths: readonly string[]): string => {
  const code = codeOf(error);
  if (code === 'EMFILE' || code === 'ENFILE') return 'ulimit -n';
  return `${code === 'ENOSPC' || code === 'EDQUOT' ? 'df -h' : 'ls -ld'} ${quoteAll(paths)}`;
};
