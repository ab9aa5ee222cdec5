import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RuntimeClient } from '../../src/client/operations.ts';
import { toWire } from '../../src/schema/errors.ts';
import type { RunResult, StartRun } from '../../src/schema/run.ts';

export type OperatorCallDeps = {
  readonly client: () => Promise<RuntimeClient>;
  readonly request: (client: RuntimeClient) => Promise<Omit<StartRun, 'input'>>;
  /** The operator's own directory: the chains of such calls are kept there, so that one that rests can go on. */
  readonly home: string;
  /** Shows the run while it goes on, and its questions. */
  readonly watch: (runId: string, call: OperatorCall) => Promise<void>;
};

export type OperatorCall = {
  readonly tools: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
};
export type Called = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly why: string };

/**
 * A tool call that the operator makes: a run of one task, so that it meets the policy, is asked about and is written down
 * like a model's own (10 §6.4, §6.6). Never rejects.
 */
export async function callAsOperator(deps: OperatorCallDeps, call: OperatorCall): Promise<Called> {
  const { tools, tool, args } = call;
  try {
    const client = await deps.client();
    const chain_path = await chainOf(deps.home, tools, tool);
    const request = await deps.request(client);
    const input = { type: 'json', value: args } as const;
    const { run_id } = await client.startRun({ ...request, input, chain_path, images: [], variables: {} });
    await deps.watch(run_id, call);
    const result = await client.awaitRun({ run_id, full: true });
    if (result.status === 'completed') return { ok: true, text: result.text };
    return { ok: false, why: whyNot(result) };
  } catch (error) {
    return { ok: false, why: toWire(error).message };
  }
}

/** In the operator's words: what the run was told is meant for a model. */
function whyNot({ permission_denials: [denied], error, status }: RunResult): string {
  if (denied !== undefined)
    return denied.rule === null || !denied.by.endsWith('policy')
      ? `denied by ${denied.by}`
      : `rule ${denied.rule + 1} of the policy denies it`;
  return error?.message.replace(/^task call failed after \d+ attempts?: (?:[\w.]+: )?/, '') ?? `it is ${status}`;
}

/** The chain of one such call. Its arguments are the input, which is no template. */
async function chainOf(home: string, tools: string, tool: string): Promise<string> {
  const directory = join(home, 'operator-calls');
  const path = join(directory, `${tools}.${tool}.json`);
  const task = {
    id: 'call',
    handler: 'tools',
    tools: { name: tools, tool_name: tool },
    transition: { branches: [{ operator: 'default', goto: 'end' }] },
  };
  const text = `${JSON.stringify({ id: `operator-${tool.replaceAll('_', '-')}`, tasks: [task] }, null, 2)}\n`;
  if ((await readFile(path, 'utf8').catch(() => null)) === text) return path;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  await writeFile(next, text, { mode: 0o600 });
  await rename(next, path);
  return path;
}
