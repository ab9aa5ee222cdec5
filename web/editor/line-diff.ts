import { createTwoFilesPatch } from 'diff';

/** A unified diff of two texts without its head; empty where they are the same. */
export function lineDiff(before: string, after: string): string {
  if (before === after) return '';
  const patch = createTwoFilesPatch('a', 'b', before, after, undefined, undefined, { context: 3 });
  return patch.slice(patch.indexOf('@@'));
}
