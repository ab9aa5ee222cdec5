import { RuntimeError } from '../../src/schema/errors.ts';
import type { Face, Questions } from '../rooms.ts';
import type { Screen } from '../screen.ts';

const nothing = (): void => undefined;

/** Lines are appended where the terminal stands: there is nothing to hold and nothing to paint. */
export const noScreen = (size: Screen['size']): Screen => ({
  size,
  enter: nothing,
  leave: nothing,
  lend: nothing,
  lent: () => null,
  held: () => false,
  paint: nothing,
  forget: nothing,
  title: nothing,
  wheel: nothing,
  protocol: nothing,
  signal: nothing,
});

/** Cards, lists and the long questions of trust belong to the screen; here the commands that do the same are named. */
export const plainQuestions = (noted: (text: string) => void): Questions => ({
  asks: { perform: nothing },
  trust: {
    async review() {
      noted('reins trust list shows what waits, reins trust add trusts it');
      noted('reins mcp accept <name> and reins hook accept <name> show tools that have changed');
    },
    answer: async () => undefined,
  },
  // The notice of a run names the command that shows them.
  definitions: { look: async () => undefined, review: async () => false, answer: async () => undefined },
});

/** What lines have no place for. */
export const withoutScreen: Pick<
  Face,
  'setTheme' | 'keys' | 'key' | 'inTmux' | 'clipboard' | 'themes' | 'readable' | 'drafts'
> = {
  setTheme() {
    throw new RuntimeError('usage', 'lines have no colours: themes belong to the full-screen mode');
  },
  keys: () => null,
  // The line editor has keys of its own.
  key: () => null,
  inTmux: false,
  clipboard: () => 'file',
  themes: () => [],
  // Nothing is offered among lines: what is written is judged when it is sent.
  readable: async () => false,
  // A line that was not finished is in the prompt, not in a draft.
  drafts: false,
};
