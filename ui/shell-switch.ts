import type { RunEvent } from '../src/schema/event.ts';
import { question } from './overlays/question.ts';
import type { Overlay } from './overlays/overlay.ts';

export const nothingRun = 'nothing was run: the shell is off; /shell on turns it on';

/** Offers to turn it on, once somebody has written a line for it. */
export const shellQuestion = (): Overlay =>
  question(
    'The shell is off',
    ['Lines behind ! need it, and so do commands of the model.', 'The policy rules each of them all the same.'],
    { words: 'turn it on in this program', effects: [{ do: 'slash', intent: { do: 'shell', on: true } }] },
  );

/** Under which names models call a shell that nobody has offered: those of other programs. */
const shellNames =
  /^(?:local_shell.*|shell|bash|terminal|(?:run|exec|execute)_(?:shell|bash|terminal|shell_command|terminal_command|terminal_cmd|command|in_terminal))$/i;

/** Whether a model has asked for a shell. */
export const wantsShell = (event: RunEvent): boolean =>
  event.kind === 'message' &&
  event.message.role === 'assistant' &&
  (event.message.tool_calls ?? []).some((call) => shellNames.test(call.function.name));

export const shellWanted = 'the model wants a shell, which is off: /shell on turns it on';
