import { RuntimeError } from './errors.ts';

/**
 * Whether `If-Match` names what there is now (09 §5.4): `*`, or one of a list of quoted tags.
 * @throws RuntimeError precondition_failed; precondition_required when nothing is said
 */
export function checkMatch(tag: string, ifMatch: string | undefined): void {
  if (ifMatch === undefined) {
    throw new RuntimeError('precondition_required', 'Say with If-Match which version this is about.', {
      data: { param: 'If-Match' },
    });
  }
  const named = ifMatch.split(',').map((one) => one.trim());
  if (named.includes('*') || named.includes(`"${tag}"`)) return;
  throw new RuntimeError('precondition_failed', 'It has changed since you read it; load it again.', {
    data: { param: 'If-Match' },
  });
}
