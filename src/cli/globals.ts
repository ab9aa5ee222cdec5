import type { AppOptions, Given } from '../app-options.ts';
import { thinkLevel } from '../schema/chain.ts';
import { usage } from '../schema/errors.ts';
import { parseUrl } from '../text/parse-url.ts';
import type { Flags } from './parse.ts';
import { globalFlags } from './table/globals.ts';
import { flagText, readPath, readValue, type ValueSite } from './values.ts';
import { isDocumentName } from '../schema/document-name.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
export type OutputFormat = 'text' | 'json' | 'stream-json';
export type OnAskFlag = 'wait' | 'suspend' | 'deny';

/** The global flags after flag > environment; `null` leaves it to config and built-in values (06 §3). */
export type Globals = {
  readonly model: Given<string> | null;
  readonly provider: Given<string> | null;
  readonly database: Given<string> | null;
  readonly dataDir: Given<string> | null;
  readonly policy: Given<string> | null;
  readonly ollama: Given<string> | null;
  readonly onAsk: Given<OnAskFlag> | null;
  readonly timeoutMs: number | null;
  readonly context: number;
  /** Absolute path of `--chain`. */
  readonly chain: string | null;
  readonly input: string | null;
  readonly trust: readonly string[];
  readonly format: OutputFormat;
  readonly raw: boolean;
  readonly steps: boolean;
  readonly trace: boolean;
  /** `--think`: show the reasoning; `level` is what the run asks for, null = as configured. */
  readonly think: { readonly show: boolean; readonly level: string | null };
  readonly shell: boolean;
  readonly allowedDir: string | null;
  readonly maxTurns: number;
  readonly maxToolCalls: number;
  readonly maxTokens: number;
  readonly failOnDenial: boolean;
  readonly requireMcp: readonly string[];
  readonly deleteModels: boolean;
  readonly quiet: boolean;
  readonly tenant: string;
};

const defaultTenant = '00000000-0000-0000-0000-000000000001';

/**
 * Reads the global flags with their environment forms.
 * @throws RuntimeError usage; a bad variable is named as the source
 */
export function readGlobals(flags: Flags, environment: Environment, site: ValueSite): Globals {
  const given = <T extends string | number>(name: string): Given<T> | null => {
    const flag = globalFlags.find((entry) => entry.name === name);
    const value = flags.text(name) ?? flags.number(name);
    // The kind of the flag decided the type of its value, when it was read.
    if (value !== null) return { value: value as T, source: 'flag' };
    const text = flag?.env === undefined ? undefined : environment[flag.env];
    if (flag?.env === undefined || text === undefined || text === '') return null;
    return { value: readValue(flag, text, flag.env, site) as T, source: 'environment' };
  };
  const context = given<number>('context');
  const tenant = given<string>('tenant');
  if (tenant !== null && !/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(tenant.value)) {
    throw usage(`${named(tenant, '--tenant', 'REINS_TENANT')}: "${tenant.value}" is not a lower-case UUID`);
  }
  const format = outputFormat(flags, given<OutputFormat>('output-format'));
  if (flags.bool('raw') === true && format !== 'text') {
    throw usage('--raw and a JSON output format exclude each other');
  }
  return {
    model: notEmpty(given<string>('model'), '--model'),
    provider: given<string>('provider'),
    database: given<string>('db'),
    dataDir: given<string>('data-dir'),
    policy: policyName(given<string>('policy'), site),
    ollama: ollamaUrl(given<string>('ollama')),
    onAsk: given<OnAskFlag>('on-ask'),
    timeoutMs: given<number>('timeout')?.value ?? null,
    context: context?.value ?? 0,
    chain: flags.text('chain'),
    input: flags.text('input'),
    trust: flags.list('trust').map(trustHash),
    format,
    raw: flags.bool('raw') ?? false,
    steps: flags.bool('steps') ?? false,
    trace: flags.bool('trace') ?? environmentBool(environment, 'REINS_TRACE'),
    think: { show: flags.has('think') && readThink(flags) !== 'off', level: readThink(flags) },
    shell: flags.bool('shell') ?? false,
    allowedDir: flags.text('local-exec-allowed-dir'),
    maxTurns: flags.number('max-turns') ?? 0,
    maxToolCalls: flags.number('max-tool-calls') ?? 0,
    maxTokens: flags.number('max-tokens') ?? 0,
    failOnDenial: flags.bool('fail-on-denial') ?? false,
    requireMcp: splitNames(flags.text('require-mcp')),
    deleteModels: flags.bool('delete-models') ?? false,
    quiet: flags.bool('quiet') ?? false,
    tenant: tenant?.value ?? defaultTenant,
  };
}

const named = (given: Given<unknown>, flag: string, variable: string) => (given.source === 'flag' ? flag : variable);

function notEmpty(given: Given<string> | null, flag: string): Given<string> | null {
  if (given?.value.trim() === '') throw usage(`${flag} needs a value`);
  return given;
}

function outputFormat(flags: Flags, given: Given<OutputFormat> | null): OutputFormat {
  if (flags.bool('json') !== true) return given?.value ?? 'text';
  if (given?.source === 'flag' && given.value !== 'json') {
    throw usage(`--json and --output-format ${given.value} exclude each other`);
  }
  return 'json';
}

/** A path when it has a separator or ends in `.json`, else a name (06 §5.4). */
function policyName(given: Given<string> | null, site: ValueSite): Given<string> | null {
  if (given === null) return null;
  const source = named(given, '--policy', 'REINS_POLICY');
  if (/[/\\]/.test(given.value) || given.value.endsWith('.json'))
    return { ...given, value: readPath(given.value, source, site) };
  if (isDocumentName(given.value)) return given;
  throw usage(`${source}: "${given.value}" is neither a policy name (a-z, 0-9, _ and -) nor the path of a document`);
}

/** A variable as other programs write it: without scheme, with the address to listen on, without a port (06 §4). */
function ollamaUrl(given: Given<string> | null): Given<string> | null {
  if (given === null) return null;
  const source = named(given, '--ollama', 'OLLAMA_HOST');
  const text = /^[a-z]+:\/\//i.test(given.value) ? given.value : `http://${given.value}`;
  const url = parseUrl(text);
  if (url === null) throw usage(`${source}: "${given.value}" is not a URL`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw usage(`${source}: the URL must be http or https`);
  if (url.username !== '' || url.password !== '') throw usage(`${source}: the URL must not hold a user or password`);
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  const hasPort = /:\d+$/.test(text.replace(/^[a-z]+:\/\//i, '').split('/')[0] ?? '');
  if (!hasPort && (given.source === 'environment' || text !== given.value)) url.port = '11434';
  return { ...given, value: url.href.replace(/\/$/, '') };
}

function trustHash(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw usage(`--trust: "${text}" is not a SHA-256 in lower-case hex`);
}

function environmentBool(environment: Environment, name: string): boolean {
  const text = environment[name];
  if (text === undefined || text === '' || text === '0' || text === 'false') return false;
  if (text === '1' || text === 'true') return true;
  throw usage(`${name} is 1 or 0, not "${text}"`);
}

/** The level of `--think` (08 §8): `medium` when none is named. */
function readThink(flags: Flags): string | null {
  const text = flags.text('think');
  if (text === null) return null;
  if (text === '') return 'medium';
  const level = thinkLevel(text);
  if (level === null) {
    throw usage(
      `${flagText({ name: 'think', kind: 'optional', help: '' })}: "${text}" is not one of auto, off, minimal, low, medium, high, xhigh`,
    );
  }
  return level;
}

/** What the app is opened with. */
export function appOptions(
  globals: Globals,
  site: Pick<AppOptions, 'root' | 'environment' | 'cwd' | 'terminal' | 'version' | 'warn' | 'notInside' | 'failPoint'>,
): AppOptions {
  return {
    ...site,
    surface: 'cli',
    tenant: globals.tenant,
    dataDir: globals.dataDir,
    database: globals.database,
    model: globals.model,
    provider: globals.provider,
    policy: globals.policy,
    ollama: globals.ollama,
    context: globals.context,
    shell: globals.shell,
    allowedDir: globals.allowedDir,
    trust: globals.trust,
    trace: globals.trace,
    requireMcp: globals.requireMcp,
  };
}

const splitNames = (text: string | null): readonly string[] =>
  (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
