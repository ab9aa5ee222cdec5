import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppOptions } from '../../app-options.ts';
import type { RunEvent } from '../../schema/event.ts';
import type { OnAsk, StartRun } from '../../schema/run.ts';
import { quote } from '../../text/quote.ts';
import { callSummary } from '../../view/call-summary.ts';
import type { Context, Handler } from '../context.ts';
import { followRun } from '../follow.ts';
import type { Output } from '../output.ts';
import type { Progress } from '../progress.ts';

/** The script of the built-in model knows the tour by this text, and these files by their names (08 §6.5). */
const prompt = 'Give me the tour.';
const note = 'Buy oats for the horse. The gate sticks; lift it a little.\n';
const credentials = '[default]\naws_access_key_id = INVENTED\naws_secret_access_key = invented-for-the-demo\n';

/** `demo` (06 §27, amendment 27): a scripted model, everything else is real, in a workspace of its own. */
const demo: Handler = async (context: Context) => {
  const place = plant();
  const open = () => context.open((options) => demoOptions(options, place));
  // The data directory is found when an app is made: the one that creates it is not the one that uses it.
  const empty = await open();
  await empty.client.initialise({ provider: 'scripted', force: false });
  await empty.close();
  const { client } = await open();
  const mode = askMode(context);
  const text = context.globals.format === 'text' && !context.globals.raw;
  const steps = createSteps(context);
  if (text) {
    await context.print(
      'The model of this tour is a script. Everything around it is real: policy, gate, tools, record.',
    );
    await context.print(`Workspace (kept): ${place.workspace}`);
    if (mode.denyByDefault) {
      await context.print('Nobody can be asked here (no terminal), so what asks is denied: --on-ask deny.');
    }
    await context.print('');
  }
  const started = await client.startRun(startOf(context, mode));
  // What waits is in a database of its own, which a command of the person's own set-up would not look at.
  const placed = (command: string): string =>
    command.replace(
      /^reins (?!help\b)/,
      `REINS_HOME=${quote(place.home)} reins --data-dir ${quote(join(place.workspace, '.reins'))} `,
    );
  const exit = await followRun({ ...context, placed }, client, started, {
    onAsk: mode.onAsk,
    ...(text ? { output: steps, progress: silent } : {}),
  });
  if (text) {
    await context.print(`\nLook around: ${place.workspace}`);
    await context.print(`REINS_HOME of this tour: ${place.home}`);
  }
  return exit;
};

type Place = { readonly home: string; readonly workspace: string };

/** A fresh directory with a note and planted credentials that open nothing. */
function plant(): Place {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'reins-demo-'));
  const place = { home: join(root, 'home'), workspace: join(root, 'workspace') };
  mkdirSync(place.home, { mode: 0o700 });
  mkdirSync(join(place.workspace, '.aws'), { recursive: true, mode: 0o700 });
  writeFileSync(join(place.workspace, 'note.txt'), note);
  writeFileSync(join(place.workspace, '.aws', 'credentials'), credentials, { mode: 0o600 });
  return place;
}

/** Nothing of the person's own set-up is read or written. */
function demoOptions(options: AppOptions, place: Place): AppOptions {
  const environment: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(options.environment)) {
    if (!name.startsWith('REINS_')) environment[name] = value;
  }
  environment['REINS_HOME'] = place.home;
  return {
    ...options,
    environment,
    cwd: place.workspace,
    dataDir: null,
    database: null,
    model: { value: 'demo', source: 'flag' },
    provider: { value: 'scripted', source: 'flag' },
    policy: null,
    ollama: null,
    context: 0,
    shell: true,
    allowedDir: null,
    trust: [],
  };
}

type AskMode = { readonly onAsk: OnAsk; readonly denyByDefault: boolean };

/** The tour goes to its end without a person: what asks is denied then, and the tour says so. */
function askMode(context: Context): AskMode {
  const given = context.globals.onAsk;
  if (given !== null) return { onAsk: given.value, denyByDefault: false };
  return context.terminal.interactive()
    ? { onAsk: 'ask', denyByDefault: false }
    : { onAsk: 'deny', denyByDefault: true };
}

const startOf = (context: Context, mode: AskMode): StartRun => ({
  input: { type: 'string', value: prompt },
  chain_path: null,
  model: 'demo',
  provider: 'scripted',
  policy: null,
  on_ask: mode.onAsk,
  timeout_ms: context.globals.timeoutMs ?? 300_000,
  context: 0,
  think: null,
  shell: true,
  allowed_dir: null,
  max_turns: 0,
  max_tool_calls: 0,
  max_tokens: 0,
  variables: {},
  images: [],
  trust: [],
});

const silent: Progress = {
  started: async () => undefined,
  event: () => undefined,
  finished: async () => undefined,
  stop: () => undefined,
};

type Step = {
  readonly what: string;
  decision: string;
  rule: string;
  outcome: string;
};

/** The tour on stdout: what the script says, one line per call with decision and rule, then the list of decisions. */
function createSteps(context: Context): Output {
  const steps = new Map<string, Step>();
  let said = '';
  const number = (callId: string) => [...steps.keys()].indexOf(callId) + 1;
  const event = async (event: RunEvent): Promise<void> => {
    switch (event.kind) {
      case 'message':
        if (event.message.role === 'assistant' && event.message.content !== '') {
          said = event.message.content;
          await context.print(said);
        }
        return;
      case 'tool_call_pending':
        steps.set(event.call_id, {
          what: `${event.tools}.${event.tool} ${callSummary(event.args)}`.trimEnd(),
          decision: '',
          rule: '',
          outcome: '',
        });
        return;
      case 'policy_decision': {
        const step = steps.get(event.call_id);
        if (step === undefined) return;
        step.decision = event.action === 'allow' ? 'allowed' : event.action === 'deny' ? 'denied' : 'asks';
        step.rule = event.rule === null ? event.reason.replaceAll('_', ' ') : `rule ${event.rule + 1}`;
        if (event.action === 'deny') step.outcome = 'did not run';
        const detail = event.detail === undefined ? '' : `: ${event.detail}`;
        await context.print(
          `  ${number(event.call_id)}. ${step.what} · ${step.decision} (${step.rule} of ${event.policy.name}${detail})`,
        );
        return;
      }
      case 'verdict': {
        const step = event.call_id === null ? undefined : steps.get(event.call_id);
        if (step === undefined || event.call_id === null) return;
        step.outcome = `${event.verdict} by ${event.by}`;
        await context.print(`  ${number(event.call_id)}. ${step.what} · ${step.outcome}`);
        return;
      }
      case 'tool_call': {
        const step = steps.get(event.call_id);
        if (step === undefined || !event.ok) return;
        const program = programOf(event.result);
        const ran = program === null ? 'ran' : `ran ${program}`;
        step.outcome = step.outcome === '' ? ran : `${step.outcome}, ${ran}`;
        if (program !== null) await context.print(`     the program that ran: ${program}`);
        return;
      }
      default:
        return;
    }
  };
  return {
    full: false,
    started: async () => undefined,
    event,
    failed: async () => undefined,
    finished: async (result) => {
      if (result.text !== '' && result.text !== said) await context.print(result.text);
      await context.print('\nDecisions');
      await context.printTable(
        [
          { title: '#', align: 'right' },
          { title: 'CALL', flexible: true },
          { title: 'POLICY' },
          { title: 'BY' },
          { title: 'OUTCOME' },
        ],
        [...steps.values()].map((step, index) => [
          String(index + 1),
          step.what,
          step.decision,
          step.rule,
          step.outcome,
        ]),
      );
    },
  };
}

/** The resolved program in the result of a command, or null. */
function programOf(result: unknown): string | null {
  try {
    const value: unknown = typeof result === 'string' ? JSON.parse(result) : result;
    const isRecord = typeof value === 'object' && value !== null;
    return isRecord && 'program' in value && typeof value.program === 'string' ? value.program : null;
  } catch {
    return null;
  }
}

export const handlers = { '': demo };
