import type { Action } from '../../schema/policy.ts';
import { builtInTools } from '../../schema/tool-names.ts';
import { commandPrefix } from './commands.ts';
import {
  type Draft,
  type DraftRule,
  dropped,
  exactly,
  type Imported,
  inert,
  inexact,
  narrowed,
  onFiles,
  type Outcome,
  readers,
  type SourceFile,
  writers,
} from './draft.ts';
import { type Literal, textsOf } from './literals.ts';
import { readToml, type TomlTable } from './toml.ts';

const decisions: Readonly<Record<string, Action>> = { deny: 'deny', ask_user: 'approve', allow: 'allow' };
/** Users stand above projects there, and the machine above both. */
const tiers: Readonly<Record<SourceFile['level'], number>> = { managed: 3, user: 2, path: 2, project: 1 };

const fileTools: Readonly<Record<string, readonly string[]>> = {
  read_file: ['read_file', 'read_file_range'],
  read_many_files: readers,
  write_file: ['write_file'],
  replace: ['edit_file', 'sed'],
  glob: ['find_files'],
  grep_search: ['grep'],
  search_file_content: ['grep'],
  list_directory: ['list_dir'],
};

type Source = { readonly file: SourceFile; readonly table: TomlTable; readonly rank: number };

/** `[[rule]]` of Gemini CLI policies (02 §15): highest tier and priority first there. */
export function importGemini(files: readonly SourceFile[]): Imported {
  const unread: { path: string; message: string }[] = [];
  const sources: Source[] = [];
  for (const file of files) {
    const read = readToml(file.text);
    if ('message' in read) {
      unread.push({ path: file.path, message: `${read.message} (line ${read.line})` });
      continue;
    }
    for (const table of read) {
      if (table.name !== 'rule') continue;
      const priority = table.values.get('priority');
      sources.push({ file, table, rank: tiers[file.level] + (typeof priority === 'number' ? priority : 0) / 1000 });
    }
  }
  sources.sort((a, b) => b.rank - a.rank);
  const drafts = sources.map((source, index) => draftOf(source, sources.slice(0, index), sources.slice(index + 1)));
  return { drafts, default_action: 'approve', dirs: [], cases: [], unread };
}

function draftOf(source: Source, above: readonly Source[], below: readonly Source[]): Draft {
  const { file, table } = source;
  const base = { path: file.path, level: file.level, line: table.line, text: shownOf(table) };
  const action = decisionOf(table);
  const names = namesOf(table);
  if (above.some((other) => isWhole(other.table) && covers(namesOf(other.table), names) && other.rank > source.rank)) {
    return { ...base, ...inert('a rule above it decides every such call') };
  }
  if (action === undefined || names === null) {
    return { ...base, ...narrowed('is not understood: everything asks', [{ action: 'approve' }]) };
  }
  const outcome = merge(names.map((name) => outcomeOf(action, name, table)));
  // A refusal of the whole tool stands below what is allowed above it, as it did there.
  const allowsAbove = above.some(({ table: other, rank }) => rank > source.rank && decisionOf(other) === 'allow');
  const allowsBelow = below.some(({ table: other, rank }) => rank === source.rank && decisionOf(other) === 'allow');
  if (action !== 'allow' && isWhole(table) && allowsAbove && !allowsBelow) {
    return { ...base, ...outcome, rules: outcome.rules.map((rule) => ({ ...rule, last: true as const })) };
  }
  return { ...base, ...outcome };
}

const decisionOf = (table: TomlTable): Action | undefined => {
  const decision = table.values.get('decision');
  return typeof decision === 'string' ? decisions[decision] : undefined;
};

type Name = { readonly server: string | null; readonly tool: string };

/** The tools that a rule names; null when that cannot be told. */
function namesOf({ values }: TomlTable): readonly Name[] | null {
  const tools = values.has('toolName') ? textsOf(values.get('toolName')) : ['*'];
  const servers = values.has('mcpName') ? textsOf(values.get('mcpName')) : [null];
  if (tools === null || servers === null) return null;
  return servers.flatMap((server) => tools.map((tool) => ({ server, tool })));
}

const narrowing = ['modes', 'interactive', 'subagent', 'toolAnnotations'];
const conditions = ['commandPrefix', 'commandRegex', 'argsPattern', ...narrowing];

/** Whether a rule matches every call of its tools. */
const isWhole = ({ values }: TomlTable): boolean => !conditions.some((name) => values.has(name));

function covers(wide: readonly Name[] | null, narrow: readonly Name[] | null): boolean {
  if (wide === null || narrow === null) return false;
  const holds = (one: Name, { server, tool }: Name): boolean =>
    (one.server === null && one.tool === '*') || (one.server === server && (one.tool === '*' || one.tool === tool));
  return narrow.every((name) => wide.some((one) => holds(one, name)));
}

function outcomeOf(action: Action, name: Name, { values }: TomlTable): Outcome {
  const all = rulesOf(action, name);
  if (all === null) return inexact(action, 'a pattern of tools', [{ action: 'approve' }]);
  if (all.length === 0) return inert('there is no such tool here');
  const asks = all.map((rule): DraftRule => ({ ...rule, action: 'approve' }));
  const message = values.get('denyMessage');
  const note = typeof message === 'string' ? message : '';
  const noted = (rules: readonly DraftRule[]): readonly DraftRule[] =>
    note === '' ? rules : rules.map((rule) => ({ '//': note, ...rule }));
  const limit = narrowing.find((key) => values.has(key));
  if (limit !== undefined && action === 'allow') return dropped(`${limit} cannot be expressed`);
  const unreadable = ['argsPattern', 'commandRegex'].find((key) => values.has(key));
  if (unreadable !== undefined) return inexact(action, `${unreadable} reads serialised arguments`, asks);
  const prefixes = values.get('commandPrefix');
  if (prefixes !== undefined) {
    const list = textsOf(prefixes);
    if (list === null || name.tool !== 'run_shell_command')
      return inexact(action, 'commandPrefix is not understood', asks);
    const each = merge(list.map((prefix) => commandPrefix(action, prefix.trim().split(/\s+/), note)));
    return limit === undefined ? each : narrowed(`holds whatever ${limit} says`, each.rules);
  }
  if (name.tool === '*' && name.server === null && action === 'allow') return dropped('allows everything');
  return limit === undefined ? exactly(noted(all)) : narrowed(`holds whatever ${limit} says`, noted(all));
}

/** Rules for every call of a tool; empty for one that is not there, null for a pattern. */
function rulesOf(action: Action, { server, tool }: Name): readonly DraftRule[] | null {
  if (server !== null) {
    if (/[*?[\]]/.test(server) || Object.hasOwn(builtInTools, server)) return null;
    if (tool === '*') return [{ tools: server, action }];
    return /[*?[\]]/.test(tool) ? null : [{ tools: server, tool, action }];
  }
  if (tool === '*') return [{ action }];
  if (tool === 'run_shell_command') return [{ tools: 'local_shell', action }];
  if (tool === 'write_file' && action !== 'allow') return onFiles(action, writers);
  const files = Object.hasOwn(fileTools, tool) ? fileTools[tool] : undefined;
  if (files !== undefined) return onFiles(action, files);
  if (tool === 'web_fetch') {
    return action === 'allow'
      ? ['web_get', 'web_head'].map((one) => ({ tools: 'web', tool: one, action }))
      : ['web', 'webhook'].map((tools) => ({ tools, action }));
  }
  return /[*?[\]]/.test(tool) ? null : [];
}

/** One outcome of several: the worst word, and all rules. */
function merge(outcomes: readonly Outcome[]): Outcome {
  const rules = outcomes.flatMap((one) => one.rules);
  const worst = (['narrowed', 'dropped', 'exact', 'inert'] as const).find((word) =>
    outcomes.some((one) => one.outcome === word),
  );
  const why = outcomes.find(({ outcome }) => outcome === worst)?.why ?? '';
  if (worst === 'dropped' && rules.length > 0) return narrowed(why, rules);
  return { outcome: worst ?? 'inert', why, rules };
}

const shownOf = ({ values }: TomlTable): string =>
  [...values]
    .map(([key, value]) => `${key} = ${shownValue(value)}`)
    .join(', ')
    .slice(0, 200);

const shownValue = (value: Literal): string =>
  JSON.stringify(value, (_, part) => (part instanceof Map ? Object.fromEntries(part) : part));
