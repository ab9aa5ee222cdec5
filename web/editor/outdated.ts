import type { RuntimeError } from '../../src/schema/errors.ts';

/** Whether a save was refused because the document is another one now. */
export const isOutdated = (error: RuntimeError | null): boolean =>
  error?.code === 'precondition_failed' || error?.code === 'already_exists';
