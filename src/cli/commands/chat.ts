import type { RuntimeClient } from '../../client/operations.ts';
import { RuntimeError } from '../../schema/errors.ts';
import type { SessionMessage } from '../../schema/session.ts';
import type { Context, Handler } from '../context.ts';
import { followRun } from '../follow.ts';
import { readInput, ways } from '../input.ts';
import { leaveInterrupted } from '../interrupted-turn.ts';
import type { Turn } from '../result-json.ts';
import { inCi } from '../terminal.ts';
import { buildStartRun, resolveOnAsk } from '../start-run.ts';

/** `chat` (06 §11): one message to a session, one reply. */
const chat: Handler = async (context: Context) => {
  const { invocation, globals, process } = context;
  const text = await readInput(invocation.words, globals.input, context);
  if (text === null) {
    const { terminal } = context;
    if (terminal.stdinKind() === 'terminal' && terminal.stdoutIsTerminal && !inCi(process.environment))
      return (await import('./tui.ts')).openTui(context);
    throw new RuntimeError('usage', 'no message', { hints: ways(process.argv) });
  }
  if (invocation.flags.has('trace-file'))
    throw new RuntimeError('usage', '--trace-file belongs to the full-screen terminal; --trace writes to stderr');
  const onAsk = await resolveOnAsk(context, context.client);
  const client = await context.client();
  const session = invocation.flags.text('session') ?? environmentSession(context);
  const last = invocation.flags.number('last') ?? 0;
  const request = await buildStartRun(context, client, 'chat', { type: 'string', value: text }, onAsk);
  const abandon = invocation.flags.bool('abandon') ?? false;
  const stopped = abandon ? null : await leaveInterrupted(context, client, session, onAsk);
  if (stopped !== null) return stopped;
  const started = await client.sendMessage({
    ...request,
    session,
    trim: invocation.flags.number('trim') ?? 0,
    abandon,
  });
  const json = globals.format !== 'text';
  const exit = await followRun(context, client, started, {
    onAsk,
    ...(json && last > 0 ? { turns: () => lastTurns(client, started.session_name, last) } : {}),
  });
  if (!json && last > 0) await printTurns(context, client, started.session_name, last);
  return exit;
};

function environmentSession(context: Context): string | null {
  const name = context.process.environment['REINS_SESSION'];
  return name === undefined || name === '' ? null : name;
}

/**
 * The messages of the last turns: a turn is a user message and all up to the next one (07 §2.5). Read from the end, in
 * growing pieces, since a session may have 100,000 messages.
 */
async function lastMessages(
  client: RuntimeClient,
  session: string | null,
  last: number,
): Promise<readonly (readonly SessionMessage[])[]> {
  for (let tail = Math.min(last, 1000) * 4; ; tail *= 4) {
    const { messages } = await client.showSession({ name: session, tools: false, tail });
    const turns: SessionMessage[][] = [];
    for (const message of messages) {
      if (message.kind === 'summary') continue;
      if (message.role === 'user' && message.kind === 'message') turns.push([message]);
      else turns.at(-1)?.push(message);
    }
    if (turns.length >= last || messages.length < tail) return turns.slice(-last);
  }
}

async function lastTurns(client: RuntimeClient, session: string | null, last: number): Promise<readonly Turn[]> {
  const turns = await lastMessages(client, session, last);
  return turns.map((messages) => {
    const [user, ...rest] = messages;
    const replies = rest.filter((message) => message.role === 'assistant' && message.text !== '');
    return {
      user: user?.text ?? '',
      assistant: replies.at(-1)?.text ?? '',
      at: user?.created_at ?? '',
      status: replies.at(-1)?.status ?? 'failed',
      run_id: replies.at(-1)?.run_id ?? user?.run_id ?? null,
    };
  });
}

/** `[HH:MM:SS] role:` and the content indented by two, without tool traffic (06 §11). */
async function printTurns(
  context: Context,
  client: RuntimeClient,
  session: string | null,
  last: number,
): Promise<void> {
  for (const message of (await lastMessages(client, session, last)).flat()) {
    const shown = message.kind === 'note' || message.role === 'user' || message.role === 'assistant';
    if (!shown || message.text === '') continue;
    const at = new Date(message.created_at).toTimeString().slice(0, 8);
    const lines = message.text
      .trimEnd()
      .split('\n')
      .map((line) => (line === '' ? '' : `  ${line}`));
    context.terminal.err(
      context.safe(`[${at}] ${message.kind === 'note' ? 'note' : message.role}:\n${lines.join('\n')}\n`),
    );
  }
}

export const handlers = { '': chat };
