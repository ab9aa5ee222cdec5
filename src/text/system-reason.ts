/**
 * What the system said, for a sentence that names the path itself: `permission denied`. Node's own text repeats the path
 * and names the call, and of a file that is written under another name first it would show that name.
 */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return /^E[A-Z0-9]+: (.+?), [a-z]+(?: '.*)?$/s.exec(error.message)?.[1] ?? error.message;
}
