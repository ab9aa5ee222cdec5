/**
 * Text as a file system without case compares it. Each character on its own: a sigma that ends a word is a sigma like any
 * other, or a pattern would not find in a path what it finds alone.
 */
export const foldCase = (text: string): string => text.toUpperCase().toLowerCase().replaceAll('ς', 'σ');
