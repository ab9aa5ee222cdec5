import { RuntimeError } from '../schema/errors.ts';

/** A checkpoint holds the outputs of all tasks; V8 has no text of twice this length. */
const maxCheckpointBytes = 256 * 1024 * 1024;

/** A checkpoint as it is stored. @throws RuntimeError storage when the outputs of the tasks are too large to be stored together */
export function checkpointText(state: unknown): string {
  let text: string | null;
  try {
    text = JSON.stringify(state);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    text = null;
  }
  if (text !== null && text.length <= maxCheckpointBytes) return text;
  const message = 'the outputs of the tasks of this run are together larger than 256 MiB, more than a checkpoint holds';
  throw new RuntimeError('storage', message);
}
