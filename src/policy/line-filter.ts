import type { CommandWord } from '../schema/command.ts';

/** Which paths pass a `grep` that reads them as lines. */
export type LineFilter = { readonly chooses: boolean; mayPass(path: string, place: string): boolean };

/**
 * Reads the pattern of a `grep` as far as it is a text, with `^`, `$`, `.` and escaped characters: that much of every kind
 * of pattern means the same. Any other may let everything pass.
 */
export function lineFilter(pattern: CommandWord | undefined, options: readonly CommandWord[]): LineFilter {
  const letters = options.map(({ text }) => (/^-[EFPGivqnh]+$/.test(text) ? text.slice(1) : '?')).join('');
  const inverted = letters.includes('v');
  const chooses = !inverted;
  if (pattern === undefined || pattern.open || letters.includes('?')) return { chooses, mayPass: () => true };
  const found = matcher(pattern.text, letters);
  if (found === null) return { chooses, mayPass: () => true };
  return {
    chooses,
    mayPass: (path, place) => {
      const inner = path === place ? '.' : path.slice(place.length + 1);
      const spelled = [inner, `./${inner}`, path, `${place.slice(place.lastIndexOf('/') + 1)}/${inner}`];
      return spelled.some((text) => found(letters.includes('i') ? text.toLowerCase() : text) !== inverted);
    },
  };
}

function matcher(source: string, letters: string): ((text: string) => boolean) | null {
  const fixed = letters.includes('F');
  const pattern = letters.includes('i') ? source.toLowerCase() : source;
  const begins = !fixed && pattern.startsWith('^');
  const ends = !fixed && /[^\\]\$$/.test(pattern);
  const body = pattern.slice(begins ? 1 : 0, ends ? -1 : undefined);
  if (!fixed && !/^(?:\\[./*$^[\]-]|[^\\*+?(){}|[\]^$])*$/.test(body)) return null;
  const units = fixed ? body.split('') : (body.match(/\\?./gs) ?? []);
  const at = (text: string, from: number): boolean =>
    units.every((unit, index) => {
      const char = text.charAt(from + index);
      return unit === '.' && !fixed ? char !== '' : unit.slice(-1) === char;
    });
  return (text) => {
    const last = text.length - units.length;
    for (let from = 0; from <= last; from += 1) {
      if ((begins && from > 0) || (ends && from !== last)) continue;
      if (at(text, from)) return true;
    }
    return false;
  };
}
