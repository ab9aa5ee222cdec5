import {
  allowAll,
  call,
  calls,
  says,
  type ScriptedApp,
  type ScriptedSetup,
  scriptedApp,
} from '../../support/scripted-app.ts';
import type { RuntimeClient } from '../../../src/client/operations.ts';
import type { RunEvent } from '../../../src/schema/event.ts';

/** What a person may say about a hook; nothing yet. */
export const nothingSaid = {
  url: null,
  spec: null,
  headers: null,
  inject: null,
  timeout_ms: null,
  allow_private: null,
} as const;

type Fields = Partial<Omit<Parameters<RuntimeClient['addHook']>[0], 'name'>>;

/** A program whose model makes the given calls in one message, one after the other, then says that it is done. */
export async function appCalling(
  made: readonly (readonly [name: string, args: unknown])[],
  setup: Partial<ScriptedSetup> = {},
): Promise<ScriptedApp> {
  const list = made.map(([name, args]) => call(name, args));
  const turns = [calls(list, { role: 'user' }), says('done', { role: 'tool' })];
  const app = await scriptedApp({ turns, policy: allowAll, ...setup });
  await app.client.setConfig({ key: 'tool-parallelism', value: '1' });
  return app;
}

export const addHook = (app: ScriptedApp, name: string, fields: Fields) =>
  app.client.addHook({ name, ...nothingSaid, ...fields });

/** The results of a run's calls, JSON read, in the order of the calls. */
export async function resultsOf(app: ScriptedApp, over: Parameters<ScriptedApp['start']>[0] = {}) {
  const { run_id } = await app.start(over);
  const events = await app.events(run_id);
  await app.client.awaitRun({ run_id, full: true });
  return { run_id, events, results: events.flatMap(resultOf) };
}

function resultOf(event: RunEvent): unknown[] {
  if (event.kind !== 'tool_call') return [];
  try {
    return [JSON.parse(String(event.result))];
  } catch {
    return [event.result];
  }
}

export const noticesOf = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.kind === 'notice' ? [event.code] : []));
