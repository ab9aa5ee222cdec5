import { setImmediate as nextTurn } from 'node:timers/promises';
import { fail, type ToolFailure } from '../failure.ts';
import type { ToolContext } from '../tool.ts';
import type { LineFinder, LineSearch } from '../../text/line-search.ts';

/** A line above this is searched beside this thread, which nothing could interrupt: below it, a tenth of a second at most. */
const longSteps = 2 ** 21;
/** For all such lines of a call. */
const longMs = 30_000;

const sliceMs = 10;
/** Between two looks at the clock. A line counts for some, whatever is in it. */
const stepsPerLook = 2 ** 17;
const stepsPerLine = 250;

export type Finding = number | 'aborted' | 'late';
export type FindInLine = (line: string) => Finding | Promise<Finding>;

/**
 * Finds in lines of any length. What takes long can be cancelled, and ends after half a minute in all; other work gets its
 * turn every 10 ms.
 */
export function createFindInLine(
  { lines, finder }: { readonly lines: LineSearch; readonly finder: LineFinder },
  context: Pick<ToolContext<unknown>, 'signal' | 'ports'>,
): FindInLine {
  let leftMs = longMs;
  let steps = 0;
  let pausedAt = performance.now();

  const findLong = async (line: string): Promise<Finding> => {
    const end = new AbortController();
    const abort = (): void => end.abort();
    const startedAt = performance.now();
    const timer = setTimeout(abort, leftMs);
    context.signal.addEventListener('abort', abort, { once: true });
    if (context.signal.aborted) abort();
    try {
      return await context.ports.findInLine(lines, line, end.signal);
    } catch (error) {
      if (context.signal.aborted) return 'aborted';
      if (end.signal.aborted) return 'late';
      throw error;
    } finally {
      clearTimeout(timer);
      context.signal.removeEventListener('abort', abort);
      leftMs = Math.max(leftMs - (performance.now() - startedAt), 1);
    }
  };

  const findBehindOthers = async (line: string): Promise<Finding> => {
    await nextTurn();
    pausedAt = performance.now();
    return context.signal.aborted ? 'aborted' : finder.find(line);
  };

  return (line) => {
    const wanted = finder.steps(line.length);
    if (wanted > longSteps) return findLong(line);
    steps += wanted + stepsPerLine;
    if (steps < stepsPerLook) return finder.find(line);
    steps = 0;
    return performance.now() - pausedAt > sliceMs ? findBehindOthers(line) : finder.find(line);
  };
}

export const lateFinding = (where: string, line: number): ToolFailure =>
  fail(
    'timeout',
    `The search took more than ${longMs / 1000} s on long lines and was ended at line ${line} of "${where}". Use a shorter pattern, or leave the file out with path or include.`,
  );
