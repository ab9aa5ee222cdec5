/** Rules of `.gitignore` and `.ignore` files: what they name is not offered as a mention (10 §6.4). */

type IgnoreRule = {
  readonly matches: (path: string) => boolean;
  readonly negated: boolean;
  readonly directoriesOnly: boolean;
};

export type IgnoreRules = { readonly base: string; readonly rules: readonly IgnoreRule[] };

/** Reads a file of such rules; a line that is none is passed over. @param base its directory, relative, `''` or ending in `/` */
export function readIgnoreFile(text: string, base: string): IgnoreRules {
  const rules: IgnoreRule[] = [];
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.replace(/(?<!\\) +$/, '');
    if (line === '' || line.startsWith('#')) continue;
    const negated = line.startsWith('!');
    let pattern = negated ? line.slice(1) : line;
    const directoriesOnly = pattern.endsWith('/');
    if (directoriesOnly) pattern = pattern.slice(0, -1);
    const anchored = pattern.includes('/');
    pattern = pattern.replace(/^\//, '');
    if (pattern === '') continue;
    const parts = pattern.split('/');
    rules.push({
      negated,
      directoriesOnly,
      matches: (path) => matchParts(anchored ? parts : ['**', ...parts], path.split('/')),
    });
  }
  return { base, rules };
}

/** Whether a path is ignored: the last rule that fits decides, of the innermost file first. */
export function isIgnored(files: readonly IgnoreRules[], path: string, directory: boolean): boolean {
  for (const { base, rules } of files.toReversed()) {
    if (!path.startsWith(base)) continue;
    const below = path.slice(base.length);
    const rule = rules.findLast((one) => (directory || !one.directoriesOnly) && one.matches(below));
    if (rule !== undefined) return !rule.negated;
  }
  return false;
}

/** `**` stands for any number of directories. Steps are at most pattern times path. */
function matchParts(pattern: readonly string[], path: readonly string[]): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let resume = 0;
  while (place < path.length) {
    const part = pattern[at];
    if (part === '**') {
      // At the end it stands for everything inside, not for the directory itself.
      if (at === pattern.length - 1) return at === 0 || place < path.length;
      star = at;
      resume = place;
      at += 1;
    } else if (part !== undefined && matchSegment(part, path[place] ?? '')) {
      at += 1;
      place += 1;
    } else if (star >= 0) {
      resume += 1;
      place = resume;
      at = star + 1;
    } else return false;
  }
  return at === pattern.length;
}

function matchSegment(pattern: string, text: string): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let resume = 0;
  while (place < text.length) {
    const token = pattern.charAt(at);
    const one = token === '*' ? null : readToken(pattern, at);
    if (token === '*') {
      star = at;
      resume = place;
      at += 1;
    } else if (at < pattern.length && one?.test(text.charAt(place)) === true) {
      at = one.next;
      place += 1;
    } else if (star >= 0) {
      resume += 1;
      place = resume;
      at = star + 1;
    } else return false;
  }
  while (pattern.charAt(at) === '*') at += 1;
  return at >= pattern.length;
}

function readToken(pattern: string, at: number): { readonly next: number; test(character: string): boolean } {
  const token = pattern.charAt(at);
  if (token === '?') return { next: at + 1, test: () => true };
  if (token === '\\' && at + 1 < pattern.length)
    return { next: at + 2, test: (character) => character === pattern.charAt(at + 1) };
  const end = token === '[' ? pattern.indexOf(']', at + 2) : -1;
  if (end < 0) return { next: at + 1, test: (character) => character === token };
  const negated = /[!^]/.test(pattern.charAt(at + 1));
  const members = pattern.slice(at + (negated ? 2 : 1), end);
  return { next: end + 1, test: (character) => within(members, character) !== negated };
}

function within(members: string, character: string): boolean {
  for (let at = 0; at < members.length; at += 1) {
    const to = members.charAt(at + 1) === '-' ? members.charAt(at + 2) : '';
    if (to !== '') {
      if (character >= members.charAt(at) && character <= to) return true;
      at += 2;
    } else if (character === members.charAt(at)) return true;
  }
  return false;
}
