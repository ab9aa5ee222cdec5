import { quote } from './quote.ts';
import { codeOf, messageOf } from './thrown.ts';

/**
 * What the system said, for a sentence that names the path itself: `permission denied`. Node's own text repeats the path
 * and names the call, and of a file that is written under another name first it would show that name.
 */
export function systemReason(error: unknown): string {
  // Of the system's own words, "illegal operation" sounds like a fault of somebody else.
  if (codeOf(error) === 'EISDIR') return 'it is a directory';
  const message = messageOf(error);
  return /^E[A-Z0-9]+: (.+?), [a-z]+(?: '.*)?$/s.exec(message)?.[1] ?? message;
}

/** The command that shows why a file could not be made in this directory: its space, or who may write there. */
export const lookAt = (error: unknown, directory: string): string => {
  const code = codeOf(error);
  return `${code === 'ENOSPC' || code === 'EDQUOT' ? 'df -h' : 'ls -ld'} ${quote(directory)}`;
};
