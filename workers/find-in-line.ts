import { createLineFinder, type LineFinder, type LineSearch } from '../src/text/line-search.ts';

export type FindJob = LineSearch & { readonly line: string };

/** The search of the last job: one call looks at many lines for the same. */
let last: { readonly key: string; readonly finder: Promise<LineFinder> } | null = null;

/** Where a line matches first; -1 when it does not. Nothing but the end of the thread interrupts it. */
export default async function findInLine({ line, ...search }: FindJob): Promise<number> {
  const key = JSON.stringify(search);
  if (last?.key !== key) last = { key, finder: createLineFinder(search) };
  return (await last.finder).find(line);
}
