import { formatSpan } from '../src/view/format.ts';
import { type Change, only, type State } from './state.ts';

/** What became of a turn of this program whose session is not in view. */
export type Elsewhere = {
  readonly session: string;
  readonly what: 'asks' | 'completed' | 'failed' | 'cancelled' | 'suspended';
  /** The tool that it asks for, or why it has failed; else empty. */
  readonly about: string;
  /** How long it took. */
  readonly ms: number;
};

/** A line in the transcript that is in view, and the end of the turn for whoever is told of ends. */
export function toldElsewhere(state: State, elsewhere: Elsewhere): Change {
  const { session, what, ms } = elsewhere;
  const id = `elsewhere:${state.items.length}:${session}`;
  const level = what === 'failed' ? 'error' : what === 'asks' ? 'warn' : 'info';
  const item = { kind: 'notice', id, level, text: `${session}: ${wordsOf(elsewhere)} · /switch ${session}` } as const;
  const isOver = what !== 'asks' && what !== 'suspended';
  return only({
    ...state,
    items: [...state.items, item],
    over: isOver ? { name: session, failed: what === 'failed', ms } : state.over,
  });
}

function wordsOf({ what, about, ms }: Elsewhere): string {
  switch (what) {
    case 'asks':
      return `needs an answer (${about})`;
    case 'completed':
      return `done after ${formatSpan(ms)}`;
    case 'failed':
      return `failed ${about}`;
    case 'cancelled':
      return 'interrupted';
    case 'suspended':
      return 'stopped at its last checkpoint';
  }
}
