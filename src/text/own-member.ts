/** What a table has under a word from outside; undefined also for words that every object knows (`constructor`). */
export const ownMember = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;
