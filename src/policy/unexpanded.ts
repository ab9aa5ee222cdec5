/** A user's home directory, or a variable, at the beginning of a place as a shell would read it. */
const expandedByShells = /^(?:~[\w.+-]*|\$(?:[A-Za-z_]\w*|\{[^/]*))(?=\/|$)/;

/**
 * Why a place is none that an operand may name, or null: only a shell expands it, so it would be a name in the workspace,
 * where a rule about it guards nothing (02 §7.2 knows `~/` alone).
 */
export function unexpanded(place: string): string | null {
  const start = place.startsWith('~/') ? undefined : expandedByShells.exec(place)?.[0];
  if (start === undefined) return null;
  return `${start} is not expanded here: write ~/ for the home directory, ./${start} for a name in the workspace`;
}
