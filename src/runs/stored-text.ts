import type { RunEvent } from '../schema/event.ts';
import type { Said } from '../store/messages.ts';

const nothing: Said = { text: '', thinking: '' };
const isNothing = ({ text, thinking }: Said): boolean => text === '' && thinking === '';

type Chunk = Extract<RunEvent, { kind: 'step_chunk' }>;
/** Any event that says in which task it was. */
type InTask = Extract<RunEvent, { kind: 'step_started' | 'step_completed' }>;

/**
 * What a model says in a run of another process, read along from what is stored of it (07 §2.3.4): deltas are told to
 * listeners of their own process alone.
 * @param read what is stored of the open message; null when there is none
 * @param begun the task that is being worked on, where no event has told it
 */
export function createStoredText(read: () => Said | null, begun: () => InTask | undefined, now: () => number) {
  let task: InTask | undefined;
  /** What has been told of the open message. */
  let told = nothing;
  let index = 0;

  return {
    /** Takes every event of the run in its order. */
    heard(event: RunEvent): void {
      if (event.kind === 'step_started') task = event;
      const isWhole = event.kind === 'message' && event.working !== true && event.message.role === 'assistant';
      if (isWhole) told = nothing;
    },

    /** What has been stored since the last look; null = nothing. */
    look(): Chunk | null {
      const said = read() ?? nothing;
      if (isNothing(said) || (said.text === told.text && said.thinking === told.thinking)) return null;
      task ??= begun();
      if (task === undefined) return null;
      const goesOn = !isNothing(told) && said.text.startsWith(told.text) && said.thinking.startsWith(told.thinking);
      const { text, thinking } = goesOn
        ? { text: said.text.slice(told.text.length), thinking: said.thinking.slice(told.thinking.length) }
        : said;
      told = said;
      const { v, run_id, session_id, chain_id, task_id, task_handler, attempt } = task;
      index += 1;
      return {
        ...{ v, run_id, session_id, chain_id, task_id, task_handler, attempt },
        seq: 0,
        timestamp: new Date(now()).toISOString(),
        kind: 'step_chunk',
        index,
        ...(text === '' ? {} : { content: text }),
        ...(thinking === '' ? {} : { thinking }),
        ...(goesOn ? {} : { from_start: true }),
      };
    },
  };
}
