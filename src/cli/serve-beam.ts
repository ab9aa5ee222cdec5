import { everyAsk } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import { canGoOn } from '../schema/run.ts';
import { plural } from '../view/format.ts';
import type { RuntimeClient } from '../client/operations.ts';
import type { Context } from './context.ts';
import type { Signal } from './process.ts';
import { beamTable } from './table/surfaces.ts';
import { readValue } from './values.ts';

const stopLimitMs = 10_000;
/** Of failed logins, in a minute. */
const maxFailureLines = 10;

/** `reins beam`: one ready line on stdout, everything else on stderr, until a signal (09 §1.3, §1.5). */
export async function serveBeam(context: Context): Promise<number> {
  const { process, terminal, globals, invocation } = context;
  const { flags } = invocation;
  refuseFlags(context);
  const ports: number[] = [];
  const serving = { chain: globals.chain, timeoutMs: globals.timeoutMs, ports: () => ports };
  const app = await context.open((options) => ({ ...options, surface: 'web', serving }));
  const ground = await app.ground('write');
  const variable = (name: string): string | null => process.environment[name] || null;
  const port = variable('REINS_PORT');
  const origins = flags.list('public-origin');
  let lose: (error: RuntimeError) => void = () => {};
  const lost = new Promise<RuntimeError>((resolve) => {
    lose = resolve;
  });
  const { openBeam } = await import('../server/open-beam.ts');
  const beam = await openBeam({
    client: app.client,
    operations: await app.routes(),
    ground,
    version: process.version,
    web: new URL('web/', process.root),
    host: flags.text('host') ?? variable('REINS_ADDR'),
    port: flags.number('port') ?? (port === null ? null : readPort(context, port)),
    allowRemote: flags.bool('allow-remote') === true,
    publicOrigins: origins.length > 0 ? origins : (variable('REINS_PUBLIC_ORIGIN')?.split(',') ?? null),
    tlsCert: flags.text('tls-cert') ?? variable('REINS_TLS_CERT'),
    tlsKey: flags.text('tls-key') ?? variable('REINS_TLS_KEY'),
    secrets: secretSources(context),
    now: process.now,
    trace: (line) => {
      if (isLost(line.error)) lose(line.error);
      if (globals.trace) terminal.err(`${context.safe(traceText(process.now(), line))}\n`);
    },
    loginFailed: failureLines(context),
    warn: context.warn,
  });
  ports.push(beam.port);
  const stopped = stopSignal(context);
  const wantsLink = flags.bool('link') !== false;
  const opens = wantsLink && flags.bool('open') === true;
  const prints = wantsLink && (flags.bool('print-link') === true || terminal.stderrIsTerminal);
  const link = prints || opens ? beam.link() : null;
  if (globals.format === 'text') await context.print(`Beam ready → ${beam.url}`);
  else {
    const facts = {
      url: beam.url,
      host: beam.host,
      port: beam.port,
      pid: process.pid,
      tenant_id: ground.tenant,
      database: ground.database,
      token_file: ground.token.path,
      version: process.version,
      ...(flags.bool('print-link') === true && link !== null ? { login_url: link } : {}),
    };
    await context.print(JSON.stringify(facts));
  }
  const say = (line: string): void => terminal.err(`${context.safe(line)}\n`);
  const known = await knownFacts(app.client);
  say(`workspace ${ground.workspace}, data directory ${ground.dataDir ?? 'none'}, database ${ground.database}`);
  say(`policy ${known.policy.name} (${known.policy.source}, ${known.policy.sha256?.slice(0, 12) ?? 'no digest'})`);
  if (known.policyInvalid) say('the policy cannot be used: every call will ask');
  if (link !== null && prints) say(`open this once within 10 minutes: ${link}`);
  if (beam.defaultLogin) say('no password is set: admin / admin works from this machine until you change it');
  say(`access token: ${ground.token.path}`);
  for (const line of known.waiting) say(line);
  if (globals.shell) say('local_shell is enabled for runs over HTTP');
  if (known.issues > 0) say(`${plural(known.issues, 'setup issue')}: reins doctor`);
  if (opens && link !== null) {
    const { openInBrowser } = await import('./open-link.ts');
    openInBrowser(link, ground.reinsHome, context);
  }
  const error = await Promise.race([stopped, lost]);
  if (!(error instanceof RuntimeError)) {
    await Promise.all([beam.stop(), ground.rest(stopLimitMs)]);
    return 0;
  }
  // Nothing of what still runs can be written down.
  await Promise.allSettled([beam.stop(), ground.rest(stopLimitMs)]);
  throw error;
}

/** The database cannot serve this process any more, whatever it does: a request was told so (11 §2.10, §2.12). */
const isLost = (error: unknown): error is RuntimeError =>
  error instanceof RuntimeError && (error.code === 'database_damaged' || error.code === 'database_newer');

/** Flags of a run that mean nothing here (09 §1.1). @throws RuntimeError usage */
function refuseFlags({ invocation }: Context): void {
  const refused = ['input', 'raw', 'steps', 'think'].find((name) => invocation.flags.has(name));
  if (refused !== undefined) throw new RuntimeError('usage', `"beam" does not take --${refused}`);
}

/** Secrets of the operator's own, by variable (09 §4.10, §4.11). */
export const secretSources = ({ process }: Context) => ({
  secret: process.environment['REINS_JWT_SECRET'] || null,
  secretFile: process.environment['REINS_JWT_SECRET_FILE'] || null,
  token: process.environment['REINS_BEAM_TOKEN'] || null,
});

/** @throws RuntimeError usage for what is no port */
export function readPort(context: Context, text: string): number {
  const flag = (beamTable.flags ?? []).find(({ name }) => name === 'port');
  if (flag === undefined) throw new TypeError('beam has no port');
  const site = { now: context.process.now(), absolute: (path: string) => path };
  return Number(readValue(flag, text, 'REINS_PORT', site));
}

/** Resolves at the first signal; the second one ends the program at once. */
function stopSignal({ process }: Context): Promise<void> {
  return new Promise((resolve) => {
    let first = true;
    const on = (signal: Signal, exit: number): void => {
      process.onSignal(signal, () => {
        if (!first) process.leave(exit);
        first = false;
        resolve();
      });
    };
    on('SIGINT', 130);
    on('SIGTERM', 143);
    on('SIGHUP', 143);
  });
}

/** What is said about the state of things, once the server answers. */
async function knownFacts(client: RuntimeClient) {
  const { status, policy } = await client.doctor({ probe: false });
  const asks = await client.listAsks({ ...everyAsk, state: 'pending', limit: 1 });
  // One that was interrupted and made room for the next turn of its session has ended.
  const resting = async (word: string) =>
    (await client.listRuns({ status: word, session: null, limit: 1000 })).runs.filter(canGoOn).length;
  const counts = [
    [asks.total, 'waiting', plural(asks.total, 'ask')],
    [await resting('suspended'), 'suspended', ''],
    [await resting('interrupted'), 'interrupted', ''],
  ] as const;
  return {
    policy,
    policyInvalid: status.issues.some(({ code }) => code === 'policy_invalid'),
    issues: status.issues.filter(({ severity }) => severity === 'error').length,
    waiting: counts
      .filter(([n]) => n > 0)
      .map(([n, word, asked]) => (word === 'waiting' ? `waiting: ${asked}` : `${word}: ${plural(n, 'run')}`)),
  };
}

/** At most ten lines a minute: whoever tries names and passwords does not write our screen. */
function failureLines({ process, warn }: Context): (peer: string, route: string) => void {
  let since = 0;
  let said = 0;
  return (peer, route) => {
    const now = process.now();
    if (now - since > 60_000) {
      since = now;
      said = 0;
    }
    said += 1;
    if (said <= maxFailureLines) warn(`a login from ${peer} failed (${route})`);
  };
}

type Traced = Parameters<Parameters<typeof import('../server/open-beam.ts').openBeam>[0]['trace']>[0];

/** One line per request: the pattern of its route and not its address (11 §9). */
function traceText(now: number, { error, ms, id, ...line }: Traced): string {
  const record = {
    ts: new Date(now).toISOString(),
    level: 'info',
    msg: 'request',
    ...line,
    duration_ms: ms,
    request_id: id,
  };
  const stack = line.status === 500 && error instanceof Error ? `\n${error.stack ?? error.message}` : '';
  return JSON.stringify(record) + stack;
}
