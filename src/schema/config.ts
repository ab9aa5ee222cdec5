import { parseUrl } from '../text/parse-url.ts';
import { parseDuration, parseSize } from '../text/quantities.ts';
import { type ProviderType, providerTypes } from './registry.ts';
import { documentName } from './document-name.ts';

/** A checked value: what the program uses, and the text that is stored and shown. Null: not acceptable. */
type Parsed<T> = { readonly value: T; readonly text: string } | null;

type ConfigKind<T> = {
  /** What is accepted, for messages and help. */
  readonly accepts: string;
  /** The words, where it takes one of a few. */
  readonly words?: readonly string[];
  readonly parse: (text: string) => Parsed<T>;
};

type Entry<T> = ConfigKind<T> & {
  /** Text of the default; empty = none. */
  readonly fallback: string;
  readonly meaning: string;
};

const entry = <T>(kind: ConfigKind<T>, fallback: string, meaning: string): Entry<T> => ({ ...kind, fallback, meaning });

/** A kind whose default is "none": unset and empty give null. */
const maybe = <T>(kind: ConfigKind<T>, meaning: string): Entry<T | null> => ({
  ...kind,
  parse: (text) => (text === '' ? { value: null, text } : kind.parse(text)),
  fallback: '',
  meaning,
});

const matching = (accepts: string, pattern: RegExp): ConfigKind<string> => ({
  accepts,
  parse: (text) => (pattern.test(text) ? { value: text, text } : null),
});

const words = <const W extends string>(...choices: readonly W[]): ConfigKind<W> => ({
  accepts: choices.join(', '),
  words: choices,
  parse: (text) => {
    const value = choices.find((choice) => choice === text);
    return value === undefined ? null : { value, text };
  },
});

const boolean: ConfigKind<boolean> = {
  accepts: 'true, false',
  words: ['true', 'false'],
  parse: (text) => (text === 'true' || text === 'false' ? { value: text === 'true', text } : null),
};

const integer = (min: number, max: number): ConfigKind<number> => ({
  accepts: `an integer from ${min} to ${max}`,
  parse: (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? { value, text: String(value) } : null;
  },
});

const size: ConfigKind<number> = {
  accepts: 'a number of tokens above 0: 32768, 32k, 1m',
  parse: (text) => {
    const value = parseSize(text);
    return value === null || value === 0 ? null : { value, text: String(value) };
  },
};

/** Milliseconds. */
const duration = (accepts: string, min: number, max: number): ConfigKind<number> => ({
  accepts,
  parse: (text) => {
    const value = parseDuration(text);
    return value === null || value < min || value > max ? null : { value, text };
  },
});

const year = 366 * 24 * 3_600_000;
const anyDuration = duration('a duration such as 30s, 5m, 1h30m', 1, 100 * year);

const orNever = (kind: ConfigKind<number>, also: readonly string[] = []): ConfigKind<number | 'never'> => ({
  accepts: `${kind.accepts}; or never`,
  parse: (text) => (text === 'never' || also.includes(text) ? { value: 'never', text: 'never' } : kind.parse(text)),
});

/** 03 §4: whole seconds in `h`, `m`, `s`. */
const ceiling: ConfigKind<number> = {
  accepts: 'a duration of whole seconds from 1s to 168h, such as 90s, 30m, 1h30m',
  parse: (text) => {
    const value = /^(?:\d+[hms])+$/.test(text) ? parseDuration(text) : null;
    return value === null || value < 1000 || value > 168 * 3_600_000 ? null : { value, text };
  },
};

const list = (accepts: string, item: (text: string) => boolean): ConfigKind<readonly string[]> => ({
  accepts,
  parse: (text) => {
    const value = text
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '');
    return value.every(item) ? { value, text: value.join(',') } : null;
  },
});

const provider: ConfigKind<ProviderType> = words(...providerTypes);
const name = matching('a text without line breaks', /^(?=.*\S)[^\p{Cc}]{1,512}$/u);
const webUrl: ConfigKind<string> = {
  accepts: 'an http or https URL',
  parse: (text) =>
    /^https?:\/\//.test(text) && (parseUrl(text)?.hostname ?? '') !== '' ? { value: text, text } : null,
};

const isIpv4 = (text: string): boolean => /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text);
const isIp = (text: string): boolean =>
  isIpv4(text) || (/^[0-9a-fA-F:.]+$/.test(text) && text.includes(':') && parseUrl(`http://[${text}]/`) !== null);

const address: ConfigKind<string> = {
  accepts: 'an IP address, or localhost',
  parse: (text) => (text === 'localhost' || isIp(text) ? { value: text, text } : null),
};
const isOrigin = (text: string): boolean =>
  /^https?:\/\/[^/?#@*\s]+$/.test(text) && (parseUrl(text)?.origin ?? 'null') !== 'null';
const isHost = (text: string): boolean => /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/.test(text);

const think = words('auto', 'off', 'minimal', 'low', 'medium', 'high', 'xhigh');

/** Every config key with its kind, default and meaning (06 §18); sorted by name when listed. */
const table = {
  'default-model': entry(name, 'qwen2.5:7b', 'model used when none is named'),
  'default-provider': maybe(provider, 'provider used when none is named; empty = any'),
  'default-chain': maybe(name, 'chain of chat'),
  'hitl-policy-name': maybe(
    matching('a policy name: lower-case letters, digits, - and _', documentName),
    'policy used when none is named; empty = hitl-policy.json',
  ),
  'approval-ceiling': entry(
    orNever(ceiling, ['forever', 'indefinite']),
    '168h',
    'longest wait of an ask whose rule sets none',
  ),
  'max-rounds': entry(integer(1, 10_000), '200', 'tool rounds per run'),
  'attention-chain': maybe(name, 'chain that may answer asks'),
  'shell-env': entry(
    list('variable names or PREFIX_*, separated by commas', (word) => /^[A-Za-z_][A-Za-z0-9_]*\*?$/.test(word)),
    '',
    'variables added to the environment of tool children',
  ),
  'default-timeout': entry(
    duration('a duration such as 5m, or 0 for none', 0, 100 * year),
    '5m',
    'active time of an invocation',
  ),
  'on-ask': entry(words('wait', 'suspend', 'deny'), 'suspend', 'what happens to an ask when nobody can be asked'),
  'planner-model': maybe(name, 'model that makes plans'),
  'planner-provider': maybe(provider, 'provider of the planner'),
  'summarizer-model': maybe(name, 'model that sums up plan steps'),
  'compact-model': maybe(name, 'model that compacts sessions'),
  'num-ctx-cap': entry(size, '32768', 'largest automatic context for local backends'),
  'keep-alive': entry(
    {
      accepts: 'a duration such as 10m, or -1 for ever',
      parse: (text: string) => (text === '-1' || parseDuration(text) !== null ? { value: text, text } : null),
    },
    '10m',
    'how long a local server keeps the model',
  ),
  'state-retention': entry(orNever(anyDuration), '720h', 'how long captured runs are kept'),
  'record-retention': entry(orNever(anyDuration), '8760h', 'how long calls and asks are kept'),
  shell: entry(boolean, 'false', 'offers local_shell without --shell; kept at the user level only'),
  'shell-timeout': entry(duration('a duration from 1s to 1h', 1000, 3_600_000), '120s', 'limit of a shell call'),
  'web-timeout': entry(duration('a duration from 1s to 5m', 1000, 300_000), '30s', 'limit of a web request'),
  'web-proxy': maybe(webUrl, 'proxy of the web tools'),
  'web-private-hosts': entry(
    list('host or host:port, separated by commas', isHost),
    '',
    'private hosts that the web tools may reach',
  ),
  'hook-spec-ttl': entry(anyDuration, '1h', 'age of a cached service description'),
  'mcp-start-wait': entry(
    duration('a duration such as 10s, or 0', 0, 3_600_000),
    '10s',
    'wait for tool servers before the first model call',
  ),
  'project-instructions': entry(boolean, 'true', 'AGENTS.md of the workspace is given to the model'),
  'plan-manager': entry(boolean, 'false', 'registers plan_manager in interactive chat'),
  think: entry(think, 'auto', 'reasoning level when none is named'),
  'tool-parallelism': entry(integer(1, 32), '8', 'calls of one batch that may run at once'),
  'max-tool-result-bytes': entry(integer(4096, 1_048_576), '65536', 'cap of a tool result in a message'),
  'beam-host': entry(address, '127.0.0.1', 'address of the server'),
  'beam-port': entry(integer(0, 65_535), '8787', 'port of the server; 0 = a free one'),
  'beam-public-origin': entry(
    list('origins such as https://reins.example.org, separated by commas', isOrigin),
    '',
    'origins under which the server is reached',
  ),
  'beam-token-scope': entry(words('run', 'full'), 'run', 'what the access token may do'),
  'beam-max-runs': entry(integer(1, 32), '4', 'runs at once on the server'),
  'allow-default-login': entry(boolean, 'true', 'default credentials work until a password is set'),
  'tui-mode': entry(words('auto', 'full', 'plain', 'screen-reader'), 'auto', 'form of the terminal interface'),
  'tui-theme': entry(matching('a theme name', documentName), 'default', 'colours'),
  'tui-glyphs': entry(words('auto', 'unicode', 'ascii'), 'auto', 'signs and borders'),
  'tui-notify': entry(words('auto', 'osc', 'bell', 'off'), 'auto', 'how a waiting ask is announced'),
  'tui-reduced-motion': entry(boolean, 'false', 'no spinner, no moving text'),
  'tui-mouse': entry(words('off', 'wheel'), 'off', 'scrolling with the wheel'),
  'tui-exit-dump': entry(words('none', 'last', 'all'), 'last', 'what is printed on leaving'),
  'tui-clipboard': entry(words('osc52', 'file'), 'osc52', 'way of /copy'),
  'tui-collapse-lines': entry(integer(0, 200), '8', 'lines of tool output shown before collapsing'),
  'tui-guard-ms': entry(integer(400, 5000), '400', 'time in which a new card takes no key'),
  'tui-history': entry(integer(0, 10_000), '1000', 'entries of input history per workspace'),
} as const satisfies Record<string, Entry<unknown>>;

export type ConfigKey = keyof typeof table;
export type ConfigValue<K extends ConfigKey> = (typeof table)[K] extends Entry<infer T> ? T : never;

/** The same table without its value types: what listings and help read. */
export const configTable: Readonly<Record<ConfigKey, Entry<unknown>>> = table;

/** All keys, sorted by name. */
// Object.keys of the table gives exactly its keys.
export const configKeys: readonly ConfigKey[] = (Object.keys(table) as ConfigKey[]).sort();

export const isConfigKey = (text: string): text is ConfigKey => Object.hasOwn(table, text);

/** Keys whose value is kept in the user-level directory, never in a project's database (amendment: `shell`). */
export const userLevelKeys: ReadonlySet<ConfigKey> = new Set<ConfigKey>(['shell']);

/** Reads a text as the value of a key. Null when it is not acceptable; `configTable[key].accepts` says what is. */
export const parseConfig = <K extends ConfigKey>(key: K, text: string): Parsed<ConfigValue<K>> =>
  // Each entry of the table parses to the type that `ConfigValue` reads from it.
  table[key].parse(text) as Parsed<ConfigValue<K>>;

/** One sentence to show after a value was set, or null (06 §18). */
export function configWarning(key: ConfigKey, text: string): string | null {
  if (key !== 'shell-env') return null;
  const secret = text.split(',').find((word) => /_(?:KEY|TOKEN|SECRET|PASSWORD)$/i.test(word.trim()));
  return secret === undefined
    ? null
    : `${secret.trim()} looks like a secret; every program that a tool starts will see it`;
}
