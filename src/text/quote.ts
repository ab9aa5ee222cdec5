/** A word in which a shell finds nothing to expand, split or quote. */
export const isPlainWord = (word: string): boolean => /^[\w@%+=:,./-]+$/.test(word);

/** A word as a shell takes it back: hints can be pasted. */
export const quote = (word: string): string => (isPlainWord(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The words of a program's start as one line in which each is seen to be one. */
export const quoteAll = (words: readonly string[]): string => words.map(quote).join(' ');
