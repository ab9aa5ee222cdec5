import type { CapturedStep } from '../schema/event.ts';
import { keepEnds } from '../text/keep-ends.ts';
import { headBytes } from '../text/utf8.ts';

/** One value of a step is stored whole up to here, as a tool result is (11 §11). */
const maxValueBytes = 65_536;
/** The values of all steps of one run together: a chain may move 10,000 times. */
const maxRunBytes = 32 * 1024 * 1024;

/** A value that is no longer than what would stand in its place is stored in any case. */
const smallBytes = 256;

const bounded = ['input', 'output', 'partial', 'eval'] as const;

/**
 * What of the inputs and outputs of a run's steps is stored (04 §17). They are for people: a run goes on from its
 * checkpoint and its messages, so a step that is cut takes nothing from it. What is cut says how many bytes are missing,
 * and the step lists the members in `truncated`, as an event does (04 §18.3).
 * @param before bytes that steps of the run hold already; asked once, for a run that was resumed
 */
export function createStepRoom(before: () => number) {
  let used: number | null = null;

  return {
    take(step: CapturedStep): CapturedStep {
      used ??= before();
      const truncated: string[] = [];
      const kept: Partial<Record<(typeof bounded)[number], unknown>> = {};
      for (const member of bounded) {
        const value = step[member];
        if (value === null) continue;
        const text = typeof value === 'string' ? value : JSON.stringify(value);
        const bytes = Buffer.byteLength(text);
        if (bytes <= smallBytes) continue;
        const whole = bytes <= maxValueBytes;
        const stored = whole ? value : cut(value, text, bytes);
        const size = whole ? bytes : maxValueBytes;
        const fits = used + size <= maxRunBytes;
        if (fits) used += size;
        if (whole && fits) continue;
        kept[member] = fits ? stored : `[… ${bytes} bytes left out: the steps of this run hold 32 MiB …]`;
        truncated.push(member);
      }
      // Only texts and JSON values were put in the place of texts and JSON values.
      return truncated.length === 0 ? step : ({ ...step, ...kept, truncated } as CapturedStep);
    },
  };
}

/** A text keeps its two ends (04 §14.7), a JSON value its beginning as a text. */
function cut(value: unknown, text: string, bytes: number): unknown {
  if (typeof value !== 'string') return { truncated: true, bytes, preview: headBytes(text, maxValueBytes / 2) };
  const { first, left, last } = keepEnds(Buffer.from(text), maxValueBytes);
  return `${first}[… ${left} bytes left out …]\n${last}`;
}
