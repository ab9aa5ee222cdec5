import type { RuntimeClient } from '../client/operations.ts';
import type { Context } from './context.ts';
import type { Failure } from './report-error.ts';

/** Ids as a stream shows them: short on a terminal, whole elsewhere (06 §2.4.6). */
export async function shownIds(
  context: Pick<Context, 'terminal'>,
  client: RuntimeClient,
  stream: 'out' | 'err',
  ids: readonly string[],
): Promise<(id: string) => string> {
  const { terminal } = context;
  if (!(stream === 'out' ? terminal.stdoutIsTerminal : terminal.stderrIsTerminal)) return (id) => id;
  const shorts = await client.shortIds({ ids: [...ids] });
  const byId = new Map(ids.map((id, index) => [id, shorts[index] ?? id]));
  return (id) => byId.get(id) ?? id;
}

const wholeId = /\b(?:ask|run)_[0-9a-z]{26}\b/g;

/** A failure as stderr shows it: its ids in the form in which lists and cards have them. */
export async function withShownIds(context: Context, failure: Failure): Promise<Failure> {
  const ids = [failure.message, ...failure.hints].flatMap((text) => text.match(wholeId) ?? []);
  if (ids.length === 0 || !context.terminal.stderrIsTerminal) return failure;
  try {
    const shown = await shownIds(context, await context.client(), 'err', [...new Set(ids)]);
    const shorten = (text: string) => text.replaceAll(wholeId, shown);
    return { ...failure, message: shorten(failure.message), hints: failure.hints.map(shorten) };
  } catch {
    // The database cannot be read: its ids are right as they are, and what failed first is what is said.
    return failure;
  }
}
