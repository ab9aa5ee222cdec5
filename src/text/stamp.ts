/** The last millisecond that a date can have. */
const lastMs = 8.64e15;

/**
 * A stored time as people and programs read it. One that no calendar has, as in a damaged row, is the epoch: its row is
 * shown all the same (11 §2.12).
 */
export const stamp = (at: number): string => new Date(Math.abs(at) <= lastMs ? at : 0).toISOString();
