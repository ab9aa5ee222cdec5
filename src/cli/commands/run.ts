import { RuntimeError } from '../../schema/errors.ts';
import type { Context, Handler } from '../context.ts';
import { followRun } from '../follow.ts';
import { convertInput, readInput, readInputType, ways } from '../input.ts';
import { buildStartRun, resolveOnAsk } from '../start-run.ts';

/** `run` (06 §10): everything that can be refused is refused before a model is contacted. */
const run: Handler = async (context: Context) => {
  const { invocation, globals } = context;
  const type = readInputType(invocation.flags.text('input-type'));
  const text = await readInput(invocation.words, globals.input, context);
  if (text === null) throw new RuntimeError('usage', 'no input', { hints: ways(context.process.argv) });
  const input = convertInput(text, type);
  const onAsk = await resolveOnAsk(context, context.client);
  const client = await context.client();
  const started = await client.startRun(await buildStartRun(context, client, 'run', input, onAsk));
  return followRun(context, client, started, { onAsk });
};

export const handlers = { '': run };
