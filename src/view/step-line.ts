import type { CapturedStep } from '../schema/event.ts';
import { clip } from './call-summary.ts';
import { formatStepDuration } from './format.ts';

type Shown = Pick<CapturedStep, 'index' | 'task_id' | 'task_handler' | 'duration_ms' | 'eval'> & {
  readonly error: { readonly class: string } | null;
};

/** One line of a step (06 §8.3); of an eval, which may be all that a model said, its beginning. Nothing is escaped. */
export function stepLine({ index, task_id, task_handler, duration_ms, eval: value, error }: Shown): string {
  const failed = error === null ? '' : ` error: ${error.class}`;
  return `  ${index}. ${task_id} (${task_handler}) ${formatStepDuration(duration_ms)} ${clip(value ?? '-')}${failed}`;
}
