import type { EngineEvent } from '../schema/event.ts';

type Chunk = Extract<EngineEvent, { kind: 'step_chunk' }>;

/** What this file needs of a mask for text in pieces: the rest stays until `end` or until it is known to be harmless. */
type Pieces = { push(piece: string): string; end(): string };

/**
 * Deltas of a model on their way to who watches: a secret that arrives in two of them is hidden as it would be in one
 * (11 §5.3).
 */
export function createDeltas(pieces: () => Pieces, publish: (chunk: Chunk) => void) {
  const content = pieces();
  const thinking = pieces();
  let last: Chunk | null = null;

  const give = (chunk: Chunk, text: string, thought: string): void => {
    const { content: _text, thinking: _thought, ...base } = chunk;
    if (text === '' && thought === '') return;
    publish({ ...base, ...(text === '' ? {} : { content: text }), ...(thought === '' ? {} : { thinking: thought }) });
  };
  return {
    take(chunk: Chunk): void {
      last = chunk;
      const { content: text = '', thinking: thought = '' } = chunk;
      // The one ends where the other begins: what is held back of it would come behind, and look like more of it.
      if (text !== '') give(chunk, '', thinking.end());
      if (thought !== '') give(chunk, content.end(), '');
      give(chunk, content.push(text), thinking.push(thought));
    },
    /** Nothing follows for now: what was held back is published. */
    end(): void {
      if (last === null) return;
      const chunk = last;
      last = null;
      give(chunk, content.end(), thinking.end());
    },
  };
}
