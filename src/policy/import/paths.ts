import type { Action } from '../../schema/policy.ts';
import { compileOperand } from '../glob.ts';

/** Text that stands for itself in a glob. */
const escaped = (path: string): string => path.replace(/[\\*?[\]{}]/g, '\\$&');

/**
 * A pattern in the manner of gitignore as a glob of a policy (02 §15): `//` the root, `~/` home, `/` the root of its file,
 * anything else at any depth, but for `allow` in the workspace. Null when it cannot be one.
 */
export function pathGlob(action: Action, pattern: string, fileRoot: string): string | null {
  if (pattern === '' || pattern.startsWith('!')) return null;
  const glob = anchored(action, pattern, fileRoot);
  // A directory is refused with all that it holds; what is allowed is no more than what was written.
  const whole = action === 'allow' || glob.endsWith('**') ? glob : `${glob.replace(/\/+$/, '')}/**`;
  return compileOperand(whole).ok ? whole : null;
}

function anchored(action: Action, pattern: string, fileRoot: string): string {
  if (pattern.startsWith('//')) return pattern.slice(1);
  if (pattern.startsWith('~/')) return pattern;
  if (pattern.startsWith('/')) return `${escaped(fileRoot)}${pattern}`;
  const bare = pattern.replace(/^\.\//, '');
  return action === 'allow' || bare.startsWith('**/') ? bare : `**/${bare}`;
}
