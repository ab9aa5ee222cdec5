import { createInterface } from 'node:readline';
import { createApp } from '../../src/app.ts';
import type { AppOptions } from '../../src/app-options.ts';
import { RuntimeError } from '../../src/schema/errors.ts';
import { appOptions } from '../support/app-options.ts';

/** A process that answers asks as a surface does: each line names one; what became of the answer goes back. */

type Wanted = { readonly id: string; readonly outcome: 'approve' | 'deny' };

const [surface = 'cli', root = '', home = '', workspace = ''] = process.argv.slice(2);
const options: AppOptions = {
  ...appOptions({ home, workspace }, root),
  // The test names one of the three.
  surface: surface as AppOptions['surface'],
};

const { client, close } = await createApp(options);
await client.listAsks({ state: 'pending', kind: null, session: null, mission: null, by: null, limit: 1 });
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { id, outcome } = JSON.parse(line) as Wanted;
  process.stdout.write(`${JSON.stringify(await told(id, outcome))}\n`);
}
await close();

async function told(id: string, outcome: Wanted['outcome']): Promise<unknown> {
  const input = { id, outcome, feedback: null, text: null, remember: null, binding: null, no_resume: true };
  try {
    const { ask } = await client.answerAsk(input);
    return { state: ask.state, by: ask.verdict?.by };
  } catch (error) {
    if (error instanceof RuntimeError) return { code: error.code, message: error.message, data: error.data };
    throw error;
  }
}
