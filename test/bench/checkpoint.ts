import { createHash } from 'node:crypto';
import { createLedger } from '../../src/engine/ledger.ts';
import { encodeState, historyValue, newState } from '../../src/engine/run-state.ts';
import { createSecrets } from '../../src/registry/secrets.ts';
import type { Message } from '../../src/schema/message.ts';
import { createEvents } from '../../src/store/events.ts';
import { createFeed } from '../../src/store/feed.ts';
import { createRuns } from '../../src/store/runs.ts';
import { openIn, tenant } from '../store/open.ts';
import { insertRun } from '../support/run-row.ts';
import { tempHome } from '../support/temp-home.ts';
import { type Figures, median } from './figures.ts';

const megabyte = 1024 * 1024;
const messageBytes = 4096;

/** The transaction of a checkpoint with one more message, as the supervisor writes it: masked, digested, durable. */
export async function benchCheckpoint(figures: Figures): Promise<void> {
  const temp = tempHome();
  const store = await openIn(temp);
  try {
    const { sql } = store;
    const runs = createRuns(sql);
    const mask = createSecrets({ environment: { BENCH_API_KEY: 'sk-bench-0123456789abcdef' } }).maskDeep;
    const feed = createFeed({ sql, events: createEvents(sql), now: Date.now, mask });
    const ref = { run_id: 'r', session_id: null, mission_id: 'r', chain_id: 'c', tenant_id: tenant };
    insertRun(sql, ref.run_id);
    runs.openState(ref.run_id, 'me', Date.now() + 60_000, 0);

    const messageOf = (number: number): Message => ({
      id: `m${number}`,
      role: number % 2 === 0 ? 'assistant' : 'tool',
      content: `${number} `.padEnd(messageBytes, 'words of a transcript '),
      timestamp: new Date(0).toISOString(),
    });
    const ledger = createLedger([], []);
    let history: Parameters<typeof ledger.append>[0] = { messages: [] };
    /** One step: the message that came and the checkpoint behind it. @returns its milliseconds */
    const step = (number: number, input: string): number => {
      const message = messageOf(number);
      history = ledger.append(history, message);
      const state = { ...newState('chat', { type: 'string', value: input }), previous: historyValue(history) };
      const from = performance.now();
      const payload = JSON.stringify(mask(encodeState(state, ledger)));
      const digest = createHash('sha256').update(payload).digest('hex');
      feed.commit('full', (record) => {
        runs.appendMessage(ref.run_id, number, JSON.stringify(mask(message)));
        record(ref, { kind: 'message', task_id: 'chat', task_handler: 'chat_completion', attempt: 1, number, message });
        runs.checkpoint(ref.run_id, 'me', payload, digest, Date.now());
      });
      return performance.now() - from;
    };
    const steps = megabyte / messageBytes;
    for (let number = 1; number <= steps; number += 1) step(number, 'go');
    const later = (input: string): number[] => Array.from({ length: 30 }, () => step(ledger.next, input));
    figures.time('checkpoint of a transcript of 1 MB, median', median(later('go')), 10);
    figures.time('the same with an input of 1 MB, median', median(later('long '.repeat(megabyte / 5))), null);
  } finally {
    store.close();
    temp.remove();
  }
}
