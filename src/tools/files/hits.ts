import type { FileLimits } from './limits.ts';

/** Lines are cut to this many characters around the match (05 §4.8). */
const maxLineCharacters = 500;
/** Room for the closing lines. */
const noticeBytes = 400;

/** The text of a grep result, line by line, within both of its limits. */
export type Hits = {
  /** Begins a file; its lines carry this prefix. */
  open(prefix: string): void;
  /**
   * Takes the next line of the file. @returns false when nothing more of this file can be shown.
   * @param at where it matches first, or -1
   */
  line(number: number, text: string, at: number): boolean;
  /** No further file needs to be searched. */
  full(): boolean;
  text(files: number, notes: readonly string[]): string;
};

type Wanted = { readonly context?: number | undefined; readonly max_matches?: number | undefined };

export function createHits({ context = 0, max_matches }: Wanted, limits: FileLimits): Hits {
  const allowed = limits._max_grep_matches;
  const most = Math.min(max_matches ?? allowed, allowed);
  const room = limits._max_output_bytes - noticeBytes;
  const out: string[] = [];
  let size = 0;
  let matches = 0;
  let cut: string | null = null;
  let prefix = '';
  let before: (readonly [number, string])[] = [];
  let after = 0;

  const put = (line: string): boolean => {
    const length = Buffer.byteLength(line) + 1;
    if (size + length > room) {
      cut = `cut after ${matches} matches at ${limits._max_output_bytes} bytes (_max_output_bytes); narrow path, include or pattern`;
      return false;
    }
    out.push(line);
    size += length;
    return true;
  };

  return {
    open(next) {
      prefix = next;
      before = [];
      after = 0;
    },
    line(number, text, at) {
      if (cut !== null) return false;
      if (at < 0) {
        if (after > 0) {
          after -= 1;
          return put(`${prefix}${number}- ${around(text, 0)}`);
        }
        if (context > 0) before = [...before, [number, text] as const].slice(-context);
        // Also behind the last match that may be shown: whether there are more is stated.
        return true;
      }
      if (matches >= most) {
        const why = max_matches !== undefined && max_matches <= allowed ? 'max_matches' : '_max_grep_matches';
        cut = `cut after ${most} matches (${why}); there are more`;
        return false;
      }
      for (const [earlier, line] of before) if (!put(`${prefix}${earlier}- ${around(line, 0)}`)) return false;
      before = [];
      after = context;
      if (!put(`${prefix}${number}: ${around(text, at)}`)) return false;
      matches += 1;
      return true;
    },
    full: () => cut !== null,
    text(files, notes) {
      const lines = matches === 0 ? [`no matches in ${files} files`] : [...out];
      if (cut !== null) lines.push(`[${cut}]`);
      return [...lines, ...notes].join('\n');
    },
  };
}

/** At most 500 characters, the beginning of the match among them. */
function around(line: string, at: number): string {
  if (line.length <= maxLineCharacters) return line;
  const from = Math.max(0, Math.min(at - 100, line.length - maxLineCharacters));
  const part = line.slice(from, from + maxLineCharacters).toWellFormed();
  return `${from > 0 ? '…' : ''}${part}${from + maxLineCharacters < line.length ? '…' : ''}`;
}
