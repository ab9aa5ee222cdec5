import type { CommandWord } from '../schema/command.ts';
import { wildcard } from './wildcard.ts';

/** Names that `tar` and `rsync` leave out wherever they meet them; a pattern with a place in it is not among them. */

const name = /^[\w.*?-]+$/;
/** Options by which a pattern means something else, or another one comes first. */
const others: Readonly<Record<string, RegExp>> = {
  tar: /^--(?:anchored|no-wildcards|wildcards-match|no-ignore|include|add-file)/,
  rsync: /^(?:-[A-Za-z]*[fF]|--(?:include|filter|files-from|relative))/,
};

/**
 * @param first the first directory that is taken: `tar` leaves out what it is told of before
 * @returns null where nothing is left out
 */
export function leftOut(
  program: string,
  rest: readonly CommandWord[],
  first: CommandWord | undefined,
): ((inner: string) => boolean) | null {
  const kind = /^(?:g|bsd)?tar$/.test(program) ? 'tar' : program;
  const other = Object.hasOwn(others, kind) ? others[kind] : undefined;
  if (other === undefined || rest.some(({ text, open }) => open || other.test(text) || text === '--')) return null;
  const end = kind === 'tar' && first !== undefined ? rest.indexOf(first) : rest.length;
  const given = rest.slice(0, Math.max(end, 0)).flatMap(({ text }, at) => {
    const attached = text.startsWith('--exclude=');
    if (!attached && rest[at - 1]?.text !== '--exclude') return [];
    const before = at - (attached ? 1 : 2);
    // In front of the option another one might take it for its own value.
    const taken =
      valued.test(rest[before]?.text ?? '') || (before === 0 && kind === 'tar' && /f$/.test(rest[0]?.text ?? ''));
    return taken ? [] : [attached ? text.slice('--exclude='.length) : text];
  });
  const patterns = given
    .map((text) => (kind === 'rsync' ? text.replace(/\/$/, '') : text))
    .flatMap((text) => (name.test(text) ? [wildcard(text)] : []));
  if (patterns.length === 0 || patterns.length > maxPatterns) return null;
  return (inner) => inner.split('/').some((part) => patterns.some((matches) => matches?.(part) === true));
}

const valued = /^--(?!exclude=)|^-[^-]*[feIbCTXKgFHLNVMS]$/;
const maxPatterns = 64;
