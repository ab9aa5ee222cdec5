/** Runs work that waits for nothing; null when it took longer than so many milliseconds and was stopped. */
export type Within = <T>(milliseconds: number, work: () => T) => { readonly value: T } | null;
