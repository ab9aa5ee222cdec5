/**
 * The file of a document as a path of the app names it, and back. The ending is left out: the server gives the app only
 * for paths whose last part has no dot, the rest being files (09 §9).
 */
export const pathOfFile = (file: string): string => encodeURIComponent(file.replace(/\.json$/, ''));
export const fileOfPath = (part: string): string => (part.endsWith('.json') ? part : `${part}.json`);
