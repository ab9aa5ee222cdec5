import type { SetupIssue } from '../schema/registry.ts';

/**
 * Errors first, then by the order of the codes (06 §15). One step goes before all: without a project the other commands
 * would write to the user's own database, and the project that is made afterwards has another (06 §5.3).
 */
export function gravestFirst<T extends Pick<SetupIssue, 'code' | 'severity'>>(issues: readonly T[]): readonly T[] {
  const rank = ({ code, severity }: T) => (code === 'no_project' ? -1 : ['error', 'warning', 'info'].indexOf(severity));
  return [...issues].sort((one, other) => rank(one) - rank(other));
}
