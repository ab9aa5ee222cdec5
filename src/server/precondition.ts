import type { IncomingHttpHeaders } from 'node:http';
import type { Route } from '../client/operation.ts';
import { refuse } from './error-body.ts';

/**
 * What the headers say about the version that a change is about (09 §5.4), as members of the input.
 * @throws RuntimeError precondition_required, invalid_parameter
 */
export function preconditionOf(
  wanted: Route<never, never>['precondition'],
  headers: IncomingHttpHeaders,
): { readonly if_match?: string; readonly if_none_match?: string } {
  if (wanted === 'none') return {};
  const ifMatch = headers['if-match'];
  const ifNoneMatch = headers['if-none-match'];
  if (wanted === 'if-match-or-none' && ifNoneMatch !== undefined) {
    if (ifNoneMatch.trim() === '*' && ifMatch === undefined) return { if_none_match: '*' };
    throw refuse('invalid_parameter', 'If-None-Match takes * here, and stands alone.', { param: 'If-None-Match' });
  }
  if (ifMatch !== undefined) return { if_match: ifMatch };
  throw refuse('precondition_required', 'Say with If-Match which version this is about.', { param: 'If-Match' });
}
