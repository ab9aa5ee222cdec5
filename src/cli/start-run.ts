import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { RuntimeClient } from '../client/operations.ts';
import { RuntimeError, usage } from '../schema/errors.ts';
import { imageLimits } from '../schema/image-limits.ts';
import { instructionsVariable } from '../schema/instructions.ts';
import type { PlanRunOptions } from '../schema/plan.ts';
import type { OnAsk, StartRun } from '../schema/run.ts';
import { parseDuration } from '../text/quantities.ts';
import { systemReason } from '../text/system-reason.ts';
import type { Context } from './context.ts';
import type { InputValue } from './input.ts';
import { type ContentUse, consentToContent } from './trust-prompt.ts';

/**
 * How the asks of this invocation are met: `--on-ask` > `REINS_ON_ASK` > a question on a terminal > config `on-ask` >
 * suspend (06 §9).
 */
export async function resolveOnAsk(context: Context, client: () => Promise<RuntimeClient>): Promise<OnAsk> {
  const { onAsk } = context.globals;
  if (onAsk !== null) return onAsk.value;
  if (context.terminal.interactive()) return 'ask';
  const { value } = await (await client()).getConfig({ key: 'on-ask' });
  return value === 'wait' || value === 'deny' ? value : 'suspend';
}

/** Active milliseconds that a run of this invocation may take: `--timeout`, else config `default-timeout`. */
export async function resolveTimeout(context: Context, client: RuntimeClient): Promise<number> {
  return (
    context.globals.timeoutMs ?? parseDuration((await client.getConfig({ key: 'default-timeout' })).value) ?? 300_000
  );
}

/**
 * The request of a run from the flags, after every question about trust was answered.
 * @param consent who puts those questions
 * @throws RuntimeError usage; not_trusted when content was refused
 */
export async function buildStartRun(
  context: Context,
  client: RuntimeClient,
  use: 'run' | 'chat' | null,
  input: InputValue,
  onAsk: OnAsk,
  consent: typeof consentToContent = consentToContent,
): Promise<StartRun> {
  const { globals, invocation } = context;
  const variables = readVariables(invocation.flags.list('var'));
  const images = readImages(invocation.flags.list('image'), context.process.cwd);
  return {
    ...(await planOptions(context, client, [use], onAsk, consent)),
    input: { type: input.type, value: input.value },
    chain_path: globals.chain,
    shell: globals.shell,
    variables,
    images: [...images],
  };
}

/**
 * The options of every run that a command starts, after every question about trust was answered.
 * @param uses of the chains that will be played
 * @param consent who puts the questions
 */
export async function planOptions(
  context: Context,
  client: RuntimeClient,
  uses: readonly (ContentUse | null)[],
  onAsk: OnAsk,
  consent: typeof consentToContent = consentToContent,
): Promise<PlanRunOptions> {
  const { globals } = context;
  const timeout = await resolveTimeout(context, client);
  const { trust, skipsPolicy } = await consent(context, client, uses);
  return {
    model: globals.model?.value ?? null,
    provider: globals.provider?.value ?? null,
    policy: globals.policy?.value ?? null,
    on_ask: onAsk,
    timeout_ms: timeout,
    context: globals.context,
    think: globals.think.level,
    allowed_dir: globals.allowedDir,
    max_turns: globals.maxTurns,
    max_tool_calls: globals.maxToolCalls,
    max_tokens: globals.maxTokens,
    trust: [...trust],
    ...(skipsPolicy ? { skip_project_policy: true } : {}),
  };
}

const reserved: ReadonlySet<string> = new Set([
  ...['model', 'provider', 'chain', 'request_id', 'session', 'workspace'],
  ...Object.values(instructionsVariable),
]);

/** `--var k=v`; names that the runtime sets are refused (06 §10). */
export function readVariables(given: readonly string[]): Record<string, string> {
  const variables = new Map<string, string>();
  for (const text of given) {
    const equals = text.indexOf('=');
    const name = text.slice(0, equals);
    if (equals < 1) throw usage(`--var: "${text}" is not of the form name=value`);
    if (reserved.has(name)) throw usage(`--var: "${name}" is set by the runtime and cannot be given`);
    if (variables.has(name)) throw usage(`--var: "${name}" is given twice`);
    variables.set(name, text.slice(equals + 1));
  }
  return Object.fromEntries(variables);
}

/** By content, never by name (06 §7). */
const signatures: readonly (readonly [offset: number, text: string])[] = [
  [0, '\u0089PNG'],
  [0, '\u00ff\u00d8\u00ff'],
  [0, 'GIF8'],
  [8, 'WEBP'],
];

/** Looks at files by their first bytes. @throws RuntimeError usage for one that is no image, or too large */
export function readImages(paths: readonly string[], cwd: string): readonly { readonly path: string }[] {
  // Here, too: a session would be made before the run is refused.
  if (paths.length > imageLimits.inMessage) {
    throw usage(`--image: ${paths.length} images, more than ${imageLimits.inMessage}`);
  }
  return paths.map((given) => {
    if (given === '') throw usage('--image needs a path');
    const path = resolve(cwd, given);
    const head = Buffer.alloc(12);
    try {
      const stat = statSync(path);
      if (!stat.isFile()) throw usage(`--image: ${given} is not a file`);
      if (stat.size > imageLimits.bytes) throw usage(`--image: ${given} is ${stat.size} bytes, more than 10 MiB`);
      const file = openSync(path, 'r');
      try {
        readSync(file, head, 0, head.length, 0);
      } finally {
        closeSync(file);
      }
    } catch (error) {
      if (error instanceof RuntimeError) throw error;
      throw new RuntimeError('usage', `--image: ${given} cannot be read: ${systemReason(error)}`, { cause: error });
    }
    const text = head.toString('latin1');
    if (!signatures.some(([offset, mark]) => text.startsWith(mark, offset))) {
      throw usage(`--image: ${given} is not a PNG, JPEG, GIF or WebP image`);
    }
    return { path };
  });
}
