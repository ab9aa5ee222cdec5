import type { RunEvent } from '../schema/event.ts';

/** What a model has said in a run. `message`: the one that is being written, which may be told from its start again. */
export type Said = { readonly before: string; readonly message: string };

export const saidNothing: Said = { before: '', message: '' };

/** Folds events of a run into what was said in it, with the calls by their names. A finished message takes the place of its pieces. */
export const reduceSaid = (said: Said, events: readonly RunEvent[]): Said => events.reduce(saidBy, said);

function saidBy(said: Said, event: RunEvent): Said {
  const { before, message } = said;
  switch (event.kind) {
    case 'step_chunk':
      return { before, message: (event.from_start === true ? '' : message) + (event.content ?? '') };
    case 'message': {
      if (event.message.role !== 'assistant') return said;
      const { content } = event.message;
      // What is only worked with was not said; and a long one is cut in its event.
      const isLess = event.working === true || (event.truncated?.includes('message') === true && message !== '');
      return { before: before + (isLess ? message : content), message: '' };
    }
    case 'tool_call':
      return { before: `${before}${message}\n[${event.tools}.${event.tool}]\n`, message: '' };
    default:
      return said;
  }
}
