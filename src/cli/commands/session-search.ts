import type { MessageHit } from '../../schema/session.ts';
import { escapeText } from '../../view/escape.ts';
import type { Context, Handler } from '../context.ts';
import { when } from '../times.ts';

/** `session search`: messages of all sessions, best first, each with the passage that was found. */
const search: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const limit = flags.number('limit') ?? 20;
  const found = await (await context.client()).searchMessages({
    text: words.join(' '),
    session: flags.text('session'),
    limit,
  });
  if (context.globals.format !== 'text') {
    await context.printJson(found);
    return 0;
  }
  for (const hit of found.hits) {
    await context.print(`${hit.session} #${hit.seq}  ${nameOf(hit)}  ${when(context, hit.created_at)}`);
    await context.terminal.out(`  ${passage(context, hit)}\n`);
  }
  if (found.hits.length === 0) context.hint('no messages match');
  else if (!found.complete) {
    context.hint(`more than ${found.total} messages match; the newest ${found.total} were compared`);
  } else if (found.total > found.hits.length) {
    context.hint(`${found.total - found.hits.length} more; --limit shows them`);
  }
  return 0;
};

const nameOf = ({ kind, role }: MessageHit): string => (kind === 'summary' ? 'summary' : role);

/** The passage with what was found in bold on a terminal; foreign text in it is made visible there. */
function passage({ terminal }: Context, hit: MessageHit): string {
  const visible = (text: string): string => (terminal.stdoutIsTerminal ? escapeText(text, { mode: 'line' }) : text);
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of hit.matches) {
    parts.push(visible(hit.snippet.slice(at, start)));
    parts.push(terminal.style('out', 'bold', visible(hit.snippet.slice(start, end))));
    at = end;
  }
  return parts.join('') + visible(hit.snippet.slice(at));
}

export const handlers = { search };
