import { readdirSync } from 'node:fs';
import { compileGlob, matchGlob } from '../policy/glob.ts';

/** Most directory entries that are looked at for one pattern, and most files that it stands for. */
const maxEntries = 10_000;
const maxFiles = 256;

/**
 * The files that a shell would put in the place of a word with `*`, `?` or `[`, as far as the bounds reach: what such a word
 * names is known before it runs, but for what changes in between. Never throws.
 * @param pattern an absolute path
 */
export function filesLike(pattern: string): readonly string[] {
  let left = maxEntries;
  let found: readonly string[] = [''];
  for (const part of pattern.split('/')) {
    if (part === '' || part === '.') continue;
    const isPart = matching(part);
    found = found.flatMap((above) => {
      if (isPart === null) return [`${above}/${part}`];
      const names = left > 0 ? namesIn(above === '' ? '/' : above) : [];
      left -= names.length;
      return names.filter(isPart).map((name) => `${above}/${name}`);
    });
    if (found.length > maxFiles) found = found.slice(0, maxFiles);
  }
  return found;
}

const places = { workspaces: [], home: '/', fold: false };

/** Null for a part that is a name. What begins with a dot is meant only where the pattern says so. */
function matching(part: string): ((name: string) => boolean) | null {
  if (!/[*?[]/.test(part)) return null;
  // One character out of a named class may be any.
  const plain = part.replace(/\[[^\][]*\[[:=.][^\][]*[:=.]\][^\][]*\]/g, '?');
  const compiled = compileGlob(`/${plain}`);
  if (!compiled.ok) return () => false;
  return (name) => (part.startsWith('.') || !name.startsWith('.')) && matchGlob(compiled.glob, `/${name}`, places);
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
