import type { Action } from '../../schema/policy.ts';
import { readStrictJson } from '../../text/strict-json.ts';
import { commandPattern } from './commands.ts';
import {
  type Draft,
  type DraftRule,
  exactly,
  type Imported,
  inert,
  inexact,
  lineAt,
  narrowed,
  onFiles,
  onShell,
  type Outcome,
  readers,
  type SourceFile,
  type SourcePlace,
  writers,
} from './draft.ts';
import { pathGlob } from './paths.ts';

const actions: Readonly<Record<string, Action>> = { deny: 'deny', ask: 'approve', allow: 'allow' };
const files: Readonly<Record<string, readonly string[]>> = {
  edit: writers,
  read: readers,
  grep: ['grep'],
  glob: ['find_files'],
  list: ['list_dir'],
};
const known = ['bash', ...Object.keys(files), 'webfetch'];

/** `permission` of `opencode.json` (02 §15). There the last pattern that matches wins. */
export function importOpencode(sources: readonly SourceFile[], place: SourcePlace): Imported {
  const drafts: Draft[] = [];
  const unread: { path: string; message: string }[] = [];
  const given = new Set<string>();
  for (const file of sources) {
    const json = readStrictJson(withoutComments(file.text), 64);
    if (!json.ok) {
      unread.push({ path: file.path, message: `${json.message} (line ${json.line}, column ${json.column})` });
      continue;
    }
    const permission: unknown =
      typeof json.value === 'object' && json.value !== null ? Reflect.get(json.value, 'permission') : undefined;
    const from = Math.max(0, file.text.indexOf('"permission"'));
    const tools = typeof permission === 'string' ? { '*': permission } : permission;
    if (typeof tools !== 'object' || tools === null) continue;
    const entries = Object.entries(tools);
    const whole = entries.findIndex(([tool]) => tool === '*');
    for (const [index, [tool, value]] of entries.entries()) {
      given.add(tool);
      const made = draftsOf(file, from, tool, value, place);
      drafts.push(...(index < whole ? made.map((one) => ({ ...one, ...inert('overridden by a later *') })) : made));
    }
  }
  const [first] = sources;
  if (first !== undefined && unread.length === 0 && !given.has('*')) {
    for (const tool of known.filter((name) => !given.has(name))) {
      const { path, level } = first;
      drafts.push({
        path,
        level,
        line: 1,
        text: `${tool} (missing)`,
        ...inert('allowed by default there: not imported'),
      });
    }
  }
  return { drafts, default_action: 'approve', dirs: [], cases: [], unread };
}

function draftsOf(file: SourceFile, from: number, tool: string, value: unknown, place: SourcePlace): readonly Draft[] {
  const entries =
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value)
      : [['*', value] as const];
  const start = Math.max(from, file.text.indexOf(JSON.stringify(tool), from));
  // What a later `*` overrides has no effect; the last `*` that others follow is what is left for the rest.
  const last = entries.findLastIndex(([pattern]) => pattern === '*');
  return entries.map(([pattern, word], index): Draft => {
    const action = typeof word === 'string' ? actions[word] : undefined;
    const at = pattern === '*' ? start : Math.max(start, file.text.indexOf(JSON.stringify(pattern), start));
    const base = {
      path: file.path,
      level: file.level,
      line: lineAt(file.text, at),
      text: `${tool} ${pattern}: ${String(word)}`,
    };
    if (index < last) return { ...base, ...inert('overridden by a later *') };
    if (action === undefined) {
      return { ...base, ...narrowed('the word is not known: it asks', restOf(tool, 'approve')) };
    }
    if (pattern !== '*') return { ...base, ...ruleOf(action, tool, pattern, place) };
    if (tool === '*' && action === 'allow') return { ...base, ...inexact(action, 'allows everything', []) };
    const rules = restOf(tool, action);
    if (rules.length === 0) return { ...base, ...inert('there is no such tool here') };
    const fallback = (index < entries.length - 1 || tool === '*') && action !== 'allow';
    return { ...base, ...exactly(fallback ? rules.map((rule) => ({ ...rule, last: true as const })) : rules) };
  });
}

/** Every call of a tool. */
function restOf(tool: string, action: Action): readonly DraftRule[] {
  if (tool === 'bash') return [onShell(action)];
  const list = Object.hasOwn(files, tool) ? files[tool] : undefined;
  if (list !== undefined) return onFiles(action, list);
  if (tool === 'webfetch') return webRules(action);
  return tool === '*' ? [{ action }] : [];
}

const webRules = (action: Action): readonly DraftRule[] =>
  action === 'allow'
    ? ['web_get', 'web_head'].map((tool) => ({ tools: 'web', tool, action }))
    : ['web', 'webhook'].map((tools) => ({ tools, action }));

function ruleOf(action: Action, tool: string, pattern: string, { workspace }: SourcePlace): Outcome {
  if (tool === 'bash') return commandPattern(action, pattern);
  const list = Object.hasOwn(files, tool) ? files[tool] : undefined;
  if (list !== undefined) {
    const glob = pathGlob(action, pattern, workspace);
    const asks = onFiles('approve', list);
    return glob === null
      ? inexact(action, 'the pattern is no glob', asks)
      : exactly(onFiles(action, list, [{ key: 'path', op: 'glob', value: glob }]));
  }
  if (tool === 'webfetch') return inexact(action, 'a pattern of addresses', webRules('approve'));
  return inert('there is no such tool here');
}

/** JSON that may hold comments and trailing commas; places stay where they were. */
function withoutComments(text: string): string {
  return text
    .replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found) =>
      found.startsWith('"') ? found : found.replace(/[^\n]/g, ' '),
    )
    .replace(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g, (found) => (found === ',' ? ' ' : found));
}
