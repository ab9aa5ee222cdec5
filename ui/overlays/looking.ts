/** How much of a text has been on the screen to which nobody says yes unseen (10 §7.4, §7.8). */
export type Looking = {
  readonly at: number;
  /** Rows from the first one that were on the screen, at this width. */
  readonly seen: number;
  readonly columns: number;
  readonly shownAt: number;
  readonly said: string | null;
};

export const unseen = (now: number): Looking => ({ at: 0, seen: 0, columns: 0, shownAt: now, said: null });
