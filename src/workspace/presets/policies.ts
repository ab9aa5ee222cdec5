import { credentials, controlling, runningLater, secretLooking } from '../../policy/catalogue.ts';
import type { Action, ComputeBounds, Condition, OnExhausted, Policy, Rule } from '../../schema/policy.ts';
import { canonicalJson } from '../../text/canonical-json.ts';

/** The shipped policies (02 §13). Nothing is built before it is asked for. */
export const presetNames = ['default', 'strict', 'read-only', 'ask-always', 'auto-edit', 'open'] as const;
export type PresetName = (typeof presetNames)[number];

export const isPresetName = (name: string): name is PresetName => presetNames.some((preset) => preset === name);

/** A rule as a document writes it. */
type RuleDocument = {
  readonly tools: string;
  readonly tool: string;
  readonly action: Action;
  readonly when?: readonly Condition[];
};

/** A preset as a document, as `policy show` prints it. */
export type PresetDocument = {
  readonly version: 1;
  readonly default_action: Action;
  readonly rules: readonly RuleDocument[];
  readonly compute?: {
    readonly maxTurns: number;
    readonly maxToolCalls: number;
    readonly maxTokens: number;
    readonly onExhausted: OnExhausted;
  };
};

const readers = ['read_file', 'read_file_range', 'list_dir', 'find_files', 'grep', 'stat_file', 'count_stats'];
const contentReaders = ['read_file', 'read_file_range', 'grep'];
const writers = ['write_file', 'edit_file', 'sed'];

const destructive = 'mkfs,mke2fs,fdisk,parted,sgdisk,shred,wipefs,blkdiscard,cryptsetup';
const askedAbout = 'rm,rmdir,sudo,su,doas,dd,chmod,chown,mv,ln,truncate,kill,pkill,killall';
const listed =
  'ls,cat,head,tail,wc,pwd,echo,grep,rg,stat,file,cut,sort,uniq,diff,cmp,basename,dirname,date,git status,git log,' +
  'git diff,git show,git blame,git ls-files,git rev-parse,go version,node --version,npm --version,python3 --version';
const metadataHosts =
  'localhost,127.0.0.1,0.0.0.0,::1,169.254.169.254,169.254.170.2,fd00:ec2::254,metadata.google.internal,metadata.azure.com';

const rule = (action: Action, tools: string, tool: string, op?: string, key = '', value = ''): RuleDocument =>
  op === undefined ? { tools, tool, action } : { tools, tool, action, when: [{ key, op, value }] };

/** Glob-major, tool-minor. */
const files = (action: Action, tools: readonly string[], globs: readonly string[]): readonly RuleDocument[] =>
  globs.flatMap((glob) => tools.map((tool) => rule(action, 'local_fs', tool, 'glob', 'path', glob)));

const eachFile = (action: Action, tools: readonly string[]): readonly RuleDocument[] =>
  tools.map((tool) => rule(action, 'local_fs', tool));

const command = (action: Action, op: string, value = ''): RuleDocument =>
  rule(action, 'local_shell', 'local_shell', op, 'command', value);

const blocks = {
  wall: () => [
    ...files('deny', ['*'], credentials),
    ...files('deny', writers, controlling),
    ...credentials.map((glob) => command('deny', 'command_path', glob)),
  ],
  net: () => ['webhook', 'web'].map((tools) => rule('deny', tools, '*', 'host', 'url', metadataHosts)),
  secret: () => files('approve', contentReaders, secretLooking),
  later: () => files('approve', writers, runningLater),
  read: () => eachFile('allow', readers),
  shell: () => [
    command('deny', 'command_blacklist', destructive),
    command('approve', 'command_ask_always', askedAbout),
    command('approve', 'has_command_substitution'),
    command('allow', 'command_prefix_allowlist', listed),
    rule('approve', 'local_shell', 'local_shell'),
  ],
  echo: () => ['echo', 'print'].map((tools) => rule('allow', tools, '*')),
};

const bounds = (maxTurns: number, maxToolCalls: number, maxTokens: number, onExhausted: OnExhausted) => ({
  maxTurns,
  maxToolCalls,
  maxTokens,
  onExhausted,
});
const dailyBounds = bounds(200, 300, 2_000_000, 'ask');

const daily = (writing: Action): PresetDocument => ({
  version: 1,
  default_action: 'approve',
  rules: [
    ...blocks.wall(),
    ...blocks.net(),
    ...blocks.secret(),
    ...blocks.later(),
    ...blocks.read(),
    ...eachFile(writing, writers),
    ...blocks.shell(),
    ...blocks.echo(),
  ],
  compute: dailyBounds,
});

const documents: Readonly<Record<PresetName, () => PresetDocument>> = {
  default: () => daily('approve'),
  strict: () => ({
    version: 1,
    default_action: 'deny',
    rules: [
      ...blocks.wall(),
      ...blocks.net(),
      ...blocks.secret(),
      ...blocks.read(),
      ...eachFile('approve', writers),
      command('deny', 'command_blacklist', destructive),
      rule('approve', 'local_shell', 'local_shell'),
    ],
    compute: bounds(100, 150, 1_000_000, 'fail'),
  }),
  'read-only': () => ({
    version: 1,
    default_action: 'deny',
    rules: [
      ...blocks.wall(),
      ...blocks.secret(),
      ...blocks.read(),
      ...eachFile('deny', writers),
      rule('deny', 'local_shell', '*'),
      ...blocks.echo(),
    ],
    compute: bounds(100, 300, 1_000_000, 'finish'),
  }),
  'ask-always': () => ({
    version: 1,
    default_action: 'approve',
    rules: [...blocks.wall(), ...blocks.net()],
  }),
  'auto-edit': () => daily('allow'),
  open: () => ({
    version: 1,
    default_action: 'allow',
    rules: [...blocks.wall(), ...blocks.net(), command('deny', 'command_blacklist', destructive)],
    compute: bounds(400, 1000, 8_000_000, 'finish'),
  }),
};

/** A preset as the document that a file would hold. */
export const presetDocument = (name: PresetName): PresetDocument => documents[name]();

/** The canonical JSON of a preset: what its SHA-256 is over (02 §4). */
export const presetText = (name: PresetName): string => canonicalJson(presetDocument(name));

/** A preset ready to govern. It is not validated again: a test does that. */
export function presetPolicy(name: PresetName): Policy {
  const { version, default_action, rules, compute } = presetDocument(name);
  const none = { maxTurns: 0, maxToolCalls: 0, maxTokens: 0, onExhausted: 'fail' as const };
  return {
    version,
    default_action,
    rules: rules.map(
      (one): Rule => ({ ...one, when: one.when ?? [], timeout_s: 0, on_timeout: null, note: purposeOf(one) }),
    ),
    compute: { ...(compute ?? none), modelAllowlist: [], backendAllowlist: [] },
    attention: { allowAgentAnswers: false, maxAgentAnswers: 0, allowAgentApprovals: false, maxAgentApprovals: 0 },
    trusted_binaries: null,
  };
}

/**
 * What a rule with a condition is for: its note, which denials and cards show (amendment 23). The documents themselves
 * carry none.
 */
function purposeOf({ when }: RuleDocument): string | null {
  const [condition] = when ?? [];
  if (condition === undefined) return null;
  const { op, value } = condition;
  if (credentials.includes(value)) return 'keeping credentials out of reach';
  if (controlling.includes(value)) return 'keeping files that gain control of the account unchanged';
  if (secretLooking.includes(value)) return 'a look at project files that seem to hold secrets';
  if (runningLater.includes(value)) return 'a look at files that run code later';
  if (op === 'host') return 'keeping this machine and cloud metadata addresses out of reach';
  if (op === 'command_blacklist') return 'keeping disks from being overwritten';
  if (op === 'command_ask_always') return 'a look at programs that remove, move or end things';
  return op === 'has_command_substitution' ? 'a look at commands hidden in a command' : null;
}

/** The globs of the catalogue C, W, S and A (02 §13): what no rule is proposed for. */
export const catalogue = (): readonly string[] => [...credentials, ...controlling, ...secretLooking, ...runningLater];

/** Those that the catalogue keeps from a file tool (02 §13): C from every one, S from content readers, W and A from writers. */
export function guardedFrom(tool: string): readonly string[] {
  const isWriter = writers.includes(tool);
  const secrets = contentReaders.includes(tool) ? secretLooking : [];
  return [...credentials, ...secrets, ...(isWriter ? [...controlling, ...runningLater] : [])];
}

/** The bounds of a run that starts under an invalid policy (02 §4). */
export const strictBounds = (): ComputeBounds => presetPolicy('strict').compute;
