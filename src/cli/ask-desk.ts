import type { RuntimeClient } from '../client/operations.ts';
import { verdictsFor, waitedFor } from '../schema/ask.ts';
import type { RunEvent } from '../schema/event.ts';
import type { OnAsk } from '../schema/run.ts';
import { escapeText } from '../view/escape.ts';
import { promptAsk } from './ask-prompt.ts';
import type { Context } from './context.ts';
import { shownIds } from './ids.ts';
import { shownWhat } from './shown-what.ts';

export type AskDesk = {
  /** Puts the questions that were open before a run went on. */
  begin(): Promise<void>;
  /** A question stands on the terminal: everything else waits behind it. */
  open(): boolean;
  /** An event has arrived: a verdict withdraws its question at once, even if other events are still held back. */
  arrived(event: RunEvent): void;
  /** An event was shown: an ask becomes a question here, or a notice for people elsewhere. */
  shown(event: RunEvent): Promise<void>;
  /** The run is over: what is still open here is withdrawn, and nothing new is asked. */
  close(): void;
  /** Resolves when no question is open. @throws what a question failed with */
  done(): Promise<void>;
};

type Options = {
  readonly onAsk: OnAsk;
  /** Questions that were open before the run went on: their events are not shown again. */
  readonly open?: readonly string[];
  /** Called when the last question was closed. */
  closed(): void;
};

/** The asks of one run, as they come, one after another (06 §9, 03 §10). */
export function createAskDesk(context: Context, client: RuntimeClient, runId: string, options: Options): AskDesk {
  const waiting: string[] = [];
  const withdrawals = new Map<string, AbortController>();
  const settled = new Set<string>();
  let working: Promise<void> | null = null;
  let failure: unknown = null;
  const summaries = new Map<string, string>();
  let announced = false;
  let closed = false;

  const work = async (): Promise<void> => {
    try {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        const controller = withdrawals.get(id);
        if (controller === undefined || settled.has(id)) continue;
        const answered = await promptAsk(context, client, id, controller.signal);
        withdrawals.delete(id);
        if (answered === 'settled') continue;
        waiting.length = 0;
        if (answered === 'interrupt') await client.cancelRun({ run_id: runId, reason: 'SIGINT' });
        // Left for later, by a key or with the terminal: the run rests, and so do the questions behind this one.
        else await client.stopRun({ run_id: runId, reason: 'ask' });
      }
    } catch (error) {
      // A run whose question cannot be put would wait for ever.
      failure = error;
      await client.stopRun({ run_id: runId, reason: 'interrupted' }).catch(() => undefined);
    } finally {
      working = null;
      options.closed();
    }
  };

  const notice = async (event: RunEvent): Promise<void> => {
    const { terminal } = context;
    if (event.kind === 'ask') {
      summaries.set(event.ask_id, callOf(context, event));
      if (options.onAsk !== 'wait') return;
      await sayWaiting(context, client, { ...event, id: event.ask_id, kind: event.ask_kind }, 'reins:');
    } else if (event.kind === 'verdict' && event.by === 'system:on-ask-deny' && !announced) {
      announced = true;
      terminal.err(`reins: denied ${summaries.get(event.ask_id) ?? event.ask_id} (--on-ask deny)\n`);
    }
  };

  const put = (id: string): void => {
    if (closed || settled.has(id)) return;
    withdrawals.set(id, new AbortController());
    waiting.push(id);
    working ??= work();
  };

  return {
    open: () => working !== null,

    async begin() {
      for (const id of options.open ?? []) {
        if (options.onAsk === 'ask') put(id);
        else if (options.onAsk === 'wait') await sayWaiting(context, client, await client.showAsk({ id }), 'reins:');
      }
    },

    arrived: (event) => {
      if (event.kind !== 'verdict') return;
      settled.add(event.ask_id);
      withdrawals.get(event.ask_id)?.abort(`${event.verdict} by ${event.by}`);
    },
    shown: async (event) => {
      if (options.onAsk !== 'ask') return notice(event);
      if (event.kind === 'ask') put(event.ask_id);
    },
    close: () => {
      closed = true;
      waiting.length = 0;
      for (const controller of withdrawals.values()) controller.abort('left unanswered');
    },
    done: async () => {
      while (working !== null) await working;
      if (failure !== null) throw failure;
    },
  };
}

type Waiting = {
  readonly id: string;
  readonly kind: string;
  readonly tools: string;
  readonly tool: string;
  readonly summary: string;
  /** Said when it is not null. */
  readonly expires_at: string | null;
};

/** The call of an ask, in one line of stderr. */
function callOf({ terminal }: Context, ask: Pick<Waiting, 'tools' | 'tool' | 'summary'>): string {
  const { stderrIsTerminal } = terminal;
  const text = `${ask.tools}.${ask.tool} ${shownWhat(stderrIsTerminal, ask)}`;
  return escapeText(text, { mode: 'line' });
}

/** Says on stderr that an ask waits for somebody elsewhere, and how it is answered (06 §9). */
export async function sayWaiting(context: Context, client: RuntimeClient, ask: Waiting, prefix: string): Promise<void> {
  const { terminal } = context;
  const id = (await shownIds(context, client, 'err', [ask.id]))(ask.id);
  const until = ask.expires_at === null ? '' : `, until ${ask.expires_at}`;
  terminal.err(`${prefix} waiting for ${waitedFor(ask.kind)} ${id}: ${callOf(context, ask)}${until}\n`);
  const answer = context.placed(`reins approvals respond ${id} ${verdictsFor(ask.kind)}`);
  terminal.err(`${prefix} answer with: ${answer}\n`);
}
