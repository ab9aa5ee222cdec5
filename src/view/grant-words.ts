import type { RememberedChoice } from '../schema/ask.ts';
import { whatOf } from './what-of.ts';

/** What a choice lets through. */
export const grantWords = ({ kind, what }: RememberedChoice): string =>
  kind === 'edits' ? `edits of files below ${what}` : whatOf({ summary: what });
