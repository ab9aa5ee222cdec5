import { randomBytes } from 'node:crypto';

const mostWords = 6;
const mostCharacters = 48;

/** `<slug>-<8 hex>` (07 §3.1): up to six words of the goal, in lower case. */
export function planName(goal: string): string {
  const words = goal
    .normalize('NFC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const slug = [...words.slice(0, mostWords).join('-')].slice(0, mostCharacters).join('').replace(/-+$/, '');
  return `${slug === '' ? 'plan' : slug}-${randomBytes(4).toString('hex')}`;
}
