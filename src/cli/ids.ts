import type { RuntimeClient } from '../client/operations.ts';
import type { Context } from './context.ts';

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
