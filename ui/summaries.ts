import type { RuntimeClient } from '../src/client/operations.ts';
import type { StartRun } from '../src/schema/run.ts';

export type SummaryDeps = {
  readonly client: () => Promise<RuntimeClient>;
  /** What the next turn would be asked for. */
  readonly turn: (client: RuntimeClient) => Promise<Omit<StartRun, 'input'>>;
  /** Shows a run in view to its end. @returns its status */
  readonly endOf: (runId: string) => Promise<string>;
};

export type Summaries = {
  /** Sums up all but the last `keep` messages, in view. @returns what the summary replaces, and how its run ended */
  compact(session: string, keep: number): Promise<{ readonly messages: number; readonly ended: string }>;
  /** A copy that begins with a summary of all but the last `keep` messages. @returns its name; null when its run failed */
  fork(
    session: string,
    fork: { readonly to: string | null; readonly at: number | null; readonly keep: number },
  ): Promise<{ readonly name: string | null; readonly summarised: number; readonly ended: string }>;
};

/** Summaries of sessions, whose runs are watched like turns. */
export function createSummaries({ client: clientOf, turn, endOf }: SummaryDeps): Summaries {
  /** The run is asked for like a turn, but without its text and its chain. */
  const wanted = async (client: RuntimeClient): Promise<StartRun> => {
    const { chain_name: _named, ...asked } = await turn(client);
    return { ...asked, input: { type: 'string', value: '' }, chain_path: null };
  };

  return {
    async compact(session, keep) {
      const client = await clientOf();
      const started = await client.compactSession({ ...(await wanted(client)), name: session, keep });
      return { messages: started.compacted.messages, ended: await endOf(started.run_id) };
    },
    async fork(session, { to, at, keep }) {
      const client = await clientOf();
      const started = await client.forkWithSummary({
        ...(await wanted(client)),
        name: session,
        new_name: to,
        at,
        keep,
      });
      const ended = await endOf(started.run_id);
      const { session_id, summarised } = started.fork;
      if (ended !== 'completed') return { name: null, summarised, ended };
      const page = await client.exportSession({ session: { id: session_id }, after: 0 });
      return { name: page.session.name, summarised, ended };
    },
  };
}
