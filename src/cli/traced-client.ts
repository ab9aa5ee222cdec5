import type { RuntimeClient } from '../client/operations.ts';
import { traceLine } from './trace-lines.ts';

/** A client by which the events of each run that is watched are written as well, once, as lines of a trace. */
export function tracedClient(client: RuntimeClient, write: (line: string) => void): RuntimeClient {
  /** The last that was written, by run: who comes back to a session watches its run again. */
  const written = new Map<string, number>();
  return {
    ...client,
    async *watch(input) {
      for await (const events of client.watch(input)) {
        for (const event of events) {
          const line = event.seq > (written.get(event.run_id) ?? 0) ? traceLine(event) : null;
          if (line === null) continue;
          written.set(event.run_id, event.seq);
          write(`${line}\n`);
        }
        yield events;
      }
    },
  };
}
