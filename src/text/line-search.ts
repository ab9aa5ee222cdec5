import { compileRegex } from './linear-regex.ts';

/** What is looked for in lines. */
export type LineSearch = { readonly pattern: string; readonly regex: boolean; readonly ignoreCase: boolean };

export type LineFinder = {
  /** Where a line matches first; -1 when it does not. */
  find(line: string): number;
  /** The most steps that a line of this length may take; some 25 million of them take a second. */
  steps(length: number): number;
};

/** Compares of a literal text that cost as much as one step of an expression. */
const comparesPerStep = 256;

/** @throws RegexSyntaxError for an expression that the engine does not take */
export async function createLineFinder({ pattern, regex, ignoreCase }: LineSearch): Promise<LineFinder> {
  if (regex) {
    const compiled = await compileRegex(pattern, { ignoreCase });
    return {
      find: (line) => (compiled.test(line) ? (compiled.exec(line)?.index ?? -1) : -1),
      steps: (length) => compiled.size * length,
    };
  }
  const steps = (length: number): number => (pattern.length * length) / comparesPerStep;
  if (!ignoreCase) return { find: (line) => line.indexOf(pattern), steps };
  const wanted = withoutCase(pattern);
  return { find: (line) => withoutCase(line).indexOf(wanted), steps };
}

/** By way of small letters, since some signs have only these in common; a small sigma depends on what is beside it. */
const withoutCase = (text: string): string => text.toLowerCase().toUpperCase();
