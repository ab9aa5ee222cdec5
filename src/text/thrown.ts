/** What a thrown value says. Anything can be thrown, so it is asked what it is first. Never throws. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The code of a system or library error (`ENOENT`, `SQLITE_BUSY`) or of one of ours; null when it has none. */
export const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
