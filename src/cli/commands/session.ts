import { imageWords } from '../../view/image-words.ts';
import { RuntimeError } from '../../schema/errors.ts';
import type { SessionMessage, SessionView } from '../../schema/session.ts';
import { measure, plural } from '../../view/format.ts';
import type { Handler } from '../context.ts';
import { when } from '../times.ts';
import { said } from '../said.ts';

const list: Handler = async (context) => {
  const client = await context.client();
  if (context.globals.format !== 'text') {
    await context.printJson(await client.listSessions({}));
    return 0;
  }
  const sessions = await client.sessionNames({});
  if (sessions.length === 0) {
    context.hint('no sessions; reins session new [name] creates one');
    return 0;
  }
  const rows = sessions.map((session) => ({
    mark: session.active ? '*' : ' ',
    name: session.name,
    count: `(${plural(session.message_count, 'message')})`,
    when: when(context, session.at),
  }));
  const width = await measure(rows.map((row) => row.name));
  const widths = rows.map((row) => width(row.name));
  const nameWidth = widths.reduce((most, one) => Math.max(most, one), 0);
  const countWidth = rows.reduce((most, row) => Math.max(most, row.count.length), 0);
  const lines = rows.map((row, index) => {
    const name = row.name + ' '.repeat(nameWidth - (widths[index] ?? 0));
    return `${row.mark} ${name}  ${row.count.padEnd(countWidth)}  ${row.when}`;
  });
  // In one piece: a write for each of thousands takes longer than everything else.
  await context.print(lines.join('\n'));
  return 0;
};

const create: Handler = async (context) => {
  const session = await (await context.client()).newSession({ name: context.invocation.words[0] ?? null });
  await said(context, `Created session "${session.name}". Now active.`, session);
  return 0;
};

const change: Handler = async (context) => {
  const session = await (await context.client()).switchSession({ name: context.invocation.words[0] ?? '' });
  await said(context, `Switched to session "${session.name}".`, session);
  return 0;
};

const remove: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const deleted = await (await context.client()).deleteSession({
    name: words[0] ?? '',
    force: flags.bool('force') ?? false,
  });
  const tail = deleted.was_active ? ' It was active; no session is active now.' : '';
  await said(context, `Deleted session "${deleted.name}" (${plural(deleted.messages, 'message')}).${tail}`, deleted);
  return 0;
};

const rename: Handler = async (context) => {
  const [name = '', new_name = ''] = context.invocation.words;
  const session = await (await context.client()).renameSession({ name, new_name });
  await said(context, `Renamed session "${name.normalize('NFC')}" to "${session.name}".`, session);
  return 0;
};

const show: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const tail = flags.number('tail');
  const head = flags.number('head');
  if (tail !== null && head !== null) throw new RuntimeError('usage', '--tail and --head exclude each other');
  const tools = flags.bool('tools') ?? false;
  const view = await (await context.client()).showSession({
    name: words[0] ?? null,
    ...(tail === null ? {} : { tail }),
    ...(head === null ? {} : { head }),
    tools,
  });
  if (context.globals.format !== 'text') {
    await context.printJson(view);
    return 0;
  }
  const count =
    view.messages.length === view.total
      ? plural(view.total, 'message')
      : `${view.messages.length} of ${plural(view.total, 'message')}`;
  await context.print(`Session: ${view.session.name} (${count})`);
  // Some hundreds a write: one for each of thousands takes longer than everything else.
  for (let at = 0; at < view.messages.length; at += 500) {
    const some = view.messages.slice(at, at + 500);
    await context.print(some.flatMap((message) => messageLines(message, tools, view.summary)).join('\n'));
  }
  return 0;
};

const mostToolLines = 20;

/** `[ISO time] role:`, the number that `fork --at` takes, the content indented by two, a blank line (06 §12, 07 §2.8). */
function messageLines(message: SessionMessage, tools: boolean, newest: SessionView['summary']): readonly string[] {
  const role = message.kind === 'note' ? 'note' : message.role;
  const state = message.status === 'complete' ? '' : ` (${message.status})`;
  const summary = message.kind === 'summary' ? ' (summary)' : '';
  const replaced = isReplaced(message, newest) ? ' (summarised)' : '';
  const text = message.text.replace(/\n+$/, '');
  const lines = text === '' ? [] : text.split('\n');
  const shown = message.role === 'tool' ? lines.slice(0, mostToolLines) : lines;
  return [
    `[${message.created_at}] ${role}: #${message.seq}${state}${summary}${replaced}`,
    ...shown.map((line) => (line === '' ? '' : `  ${line}`)),
    ...(message.images ?? []).map((image) => `  ${imageWords(image)}`),
    ...(shown.length < lines.length ? [`  (${lines.length - shown.length} of ${lines.length} lines hidden)`] : []),
    ...(tools ? message.tool_calls.map((call) => `  → ${call.name} ${call.arguments}`) : []),
    '',
  ];
}

/** Whether a summary stands for it in requests. Notes are never sent, and system messages in any case. */
function isReplaced({ kind, role, seq }: SessionMessage, newest: SessionView['summary']): boolean {
  if (newest === null || kind === 'note' || role === 'system') return false;
  return kind === 'summary' ? seq < newest.seq : seq <= newest.covers_to;
}

export const handlers = { list, new: create, switch: change, show, delete: remove, rename };
