/** A word as a shell takes it back: hints can be pasted. */
export const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** The words of a program's start as one line in which each is seen to be one. */
export const quoteAll = (words: readonly string[]): string => words.map(quote).join(' ');
