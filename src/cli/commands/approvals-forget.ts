import { escapeText } from '../../view/escape.ts';
import { plural } from '../../view/format.ts';
import { grantWords } from '../../view/grant-words.ts';
import type { Handler } from '../context.ts';

/** `approvals forget`: what `/asks forget` does, and says what it was that passed. */
const forget: Handler = async (context) => {
  const client = await context.client();
  const name = context.invocation.flags.text('session') ?? null;
  // A name that is of no session is told, rather than that nothing was remembered for it.
  const { session } = await client.showSession({ name, tail: 0, tools: false });
  const choices = await client.listRemembered({ session: session.id });
  const { removed } = await client.forgetRemembered({ session: session.id, id: null });
  if (context.globals.format !== 'text') {
    await context.printJson({ session: session.name, removed, choices });
    return 0;
  }
  for (const choice of choices) await context.print(`forgot: ${escapeText(grantWords(choice), { mode: 'line' })}`);
  if (removed === 0) context.hint(`nothing is remembered in the session "${session.name}"`);
  else await context.print(`forgot ${plural(removed, 'remembered choice')}`);
  return 0;
};

export const handlers = { forget };
