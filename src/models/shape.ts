/** A count of a report: a finite number above zero, rounded down; everything else is 0. */
export const count = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;

export const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);
