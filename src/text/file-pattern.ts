/** A word of a shell line that stands for files, and holds nothing else that only the shell knows. */
export const isPattern = (path: string): boolean => /[*?[]/.test(path) && !/[$`\0<>{~]/.test(path);
