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
    const steps = readPattern(anchored ? parts : ['**', ...parts]);
    rules.push({ negated, directoriesOnly, matches: (path) => fits(steps, path.split('/')) });
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

/** One step of a pattern: what one member has to be, or `any` for any number of members. */
type Step<T> = 'any' | ((member: T) => boolean);

/** Steps over the parts of a path. */
function readPattern(parts: readonly string[]): readonly Step<string>[] {
  const steps = parts.map((part): Step<string> => {
    if (part === '**') return 'any';
    const characters = readPart(part);
    return (name) => fits(characters, name);
  });
  // At the end it stands for everything inside, not for the directory itself.
  return steps.at(-1) === 'any' ? [...steps, () => true] : steps;
}

/** Steps over the characters of one part of a path. */
function readPart(part: string): readonly Step<string>[] {
  const steps: Step<string>[] = [];
  for (let at = 0; at < part.length; ) {
    const { next, step } = readStep(part, at);
    steps.push(step);
    at = next;
  }
  return steps;
}

function readStep(part: string, at: number): { readonly next: number; readonly step: Step<string> } {
  const token = part.charAt(at);
  if (token === '*') return { next: at + 1, step: 'any' };
  if (token === '?') return { next: at + 1, step: () => true };
  if (token === '\\' && at + 1 < part.length) {
    const literal = part.charAt(at + 1);
    return { next: at + 2, step: (character) => character === literal };
  }
  const end = token === '[' ? part.indexOf(']', at + 2) : -1;
  if (end < 0) return { next: at + 1, step: (character) => character === token };
  const negated = /[!^]/.test(part.charAt(at + 1));
  const members = part.slice(at + (negated ? 2 : 1), end);
  return { next: end + 1, step: (character) => within(members, character) !== negated };
}

/** Whether the steps lead over all members. Takes at most as many turns as steps times members. */
function fits<T>(steps: readonly Step<T>[], members: ArrayLike<T>): boolean {
  let at = 0;
  let place = 0;
  let any = -1;
  let resume = 0;
  while (place < members.length) {
    const step = steps[at];
    // Of an index below the length.
    const member = members[place] as T;
    if (step === 'any') {
      any = at;
      resume = place;
      at += 1;
    } else if (step?.(member) === true) {
      at += 1;
      place += 1;
    } else if (any >= 0) {
      resume += 1;
      place = resume;
      at = any + 1;
    } else return false;
  }
  return steps.slice(at).every((step) => step === 'any');
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
