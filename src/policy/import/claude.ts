import type { Action } from '../../schema/policy.ts';
import { readStrictJson } from '../../text/strict-json.ts';
import { builtInTools } from '../../schema/tool-names.ts';
import { parseHosts } from '../hosts.ts';
import { commandPattern } from './commands.ts';
import {
  type Draft,
  type DraftRule,
  dropped,
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
  writers,
} from './draft.ts';
import { pathGlob } from './paths.ts';

const lists: Readonly<Record<string, Action>> = { deny: 'deny', ask: 'approve', allow: 'allow' };

/** `permissions` of Claude Code's `settings.json` (02 §15). */
export function importClaude(files: readonly SourceFile[]): Imported {
  const drafts: Draft[] = [];
  const unread: { path: string; message: string }[] = [];
  let defaultAction: Imported['default_action'] = 'approve';
  for (const file of files) {
    const json = readStrictJson(file.text, 64);
    if (!json.ok) {
      unread.push({ path: file.path, message: `${json.message} (line ${json.line}, column ${json.column})` });
      continue;
    }
    const permissions = member(json.value, 'permissions');
    for (const [name, action] of Object.entries(lists)) {
      const list = member(permissions, name);
      let from = file.text.indexOf(`"${name}"`);
      for (const text of Array.isArray(list) ? list : []) {
        const shown = typeof text === 'string' ? text : JSON.stringify(text);
        const found = file.text.indexOf(JSON.stringify(text), from);
        if (found >= 0) from = found + 1;
        const outcome =
          typeof text === 'string' ? ruleOf(action, text, rootOf(file)) : inexact(action, 'is no text', everything);
        drafts.push({ ...placed(file, found), text: `${name} ${shown}`, ...outcome });
      }
    }
    const mode = member(permissions, 'defaultMode');
    if (mode !== undefined) {
      if (mode === 'dontAsk') defaultAction = 'deny';
      const at = file.text.indexOf('"defaultMode"');
      drafts.push({ ...placed(file, at), text: `defaultMode ${String(mode)}`, ...modeOf(mode) });
    }
  }
  return { drafts, default_action: defaultAction, dirs: [], cases: [], unread };
}

/** Nothing is allowed unasked. */
const everything: readonly DraftRule[] = [{ action: 'approve' }];

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}

const placed = ({ path, level, text }: SourceFile, offset: number) => ({ path, level, line: lineAt(text, offset) });

/** The directory that `/` means in a settings file: the project, or the directory of the user's settings. */
function rootOf({ path, level }: SourceFile): string {
  const directory = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  return level === 'project' || (level === 'path' && directory.endsWith('/.claude'))
    ? directory.slice(0, Math.max(0, directory.lastIndexOf('/')))
    : directory;
}

function modeOf(mode: unknown): Outcome {
  if (mode === 'dontAsk') return exactly([], 'what no rule decides is denied');
  if (mode === 'plan') return inert('use the built-in policy read-only for it');
  return mode === 'default'
    ? exactly([], 'what no rule decides asks')
    : inert('is not imported: nothing is allowed by it');
}

function ruleOf(action: Action, text: string, fileRoot: string): Outcome {
  const [, name = text, , specifier] = /^([^(]+)(\((.*)\))?$/s.exec(text.trim()) ?? [];
  if (name.startsWith('mcp__'))
    return specifier === undefined
      ? serverRule(action, name)
      : inexact(action, 'a parameter of a tool server', serverAsks(name));
  switch (name) {
    case 'Bash':
      return specifier === undefined ? exactly([onShell(action)]) : commandPattern(action, specifier);
    case 'Read':
      return specifier === undefined ? readRules(action) : readRules(action, pathGlob(action, specifier, fileRoot));
    case 'Edit':
    case 'MultiEdit':
      return specifier === undefined ? exactly(onFiles(action, writers)) : editRules(action, specifier, fileRoot);
    case 'Write':
    case 'NotebookEdit':
    case 'Glob':
      if (specifier === undefined) return bareTool(action, name);
      return action === 'allow' ? dropped('has no effect in the source') : editRules(action, specifier, fileRoot);
    case 'Grep':
    case 'LS':
      return specifier === undefined
        ? bareTool(action, name)
        : inexact(action, 'is not expressible', onFiles('approve', readers));
    case 'WebFetch':
      return webRules(action, specifier);
    case '*':
      return action === 'allow' ? dropped('allows everything') : exactly([{ action }]);
    default:
      return inert('there is no such tool here');
  }
}

const own: Readonly<Record<string, readonly string[]>> = {
  Write: ['write_file'],
  NotebookEdit: [],
  Glob: ['find_files'],
  Grep: ['grep'],
  LS: ['list_dir'],
};

const bareTool = (action: Action, name: string): Outcome =>
  name === 'NotebookEdit'
    ? inert('there is no such tool here')
    : name === 'Write' && action !== 'allow'
      ? narrowed('as every writer', onFiles(action, writers))
      : exactly(onFiles(action, own[name] ?? []));

function readRules(action: Action, glob?: string | null): Outcome {
  if (glob === null) return inexact(action, 'the pattern is no glob', onFiles('approve', readers));
  const when = glob === undefined ? undefined : [{ key: 'path', op: 'glob', value: glob }];
  if (action !== 'deny') return exactly(onFiles(action, readers, when));
  if (glob === undefined || when === undefined) return exactly(onFiles(action, [...readers, ...writers]));
  return exactly([
    { tools: 'local_fs', tool: '*', when, action },
    onShell(action, [{ key: 'command', op: 'command_path', value: glob }]),
  ]);
}

function editRules(action: Action, pattern: string, fileRoot: string): Outcome {
  const glob = pathGlob(action, pattern, fileRoot);
  if (glob === null) return inexact(action, 'the pattern is no glob', onFiles('approve', writers));
  return exactly(onFiles(action, writers, [{ key: 'path', op: 'glob', value: glob }]));
}

/** An allow is for fetching, and for the named host alone: a name in a list would cover its subdomains too. */
function webRules(action: Action, specifier: string | undefined): Outcome {
  const asks: readonly DraftRule[] = ['web', 'webhook'].map((tools) => ({ tools, action: 'approve' }));
  const fetching = ['web_get', 'web_head'].map((tool): DraftRule => ({ tools: 'web', tool, action }));
  if (specifier === undefined || specifier === '*') {
    return exactly(action === 'allow' ? fetching : asks.map((rule) => ({ ...rule, action })));
  }
  const host = /^domain:(.+)$/.exec(specifier)?.[1] ?? '';
  if (!parseHosts(host).ok) return inexact(action, 'is no host', asks);
  const named = { key: 'url', op: 'host', value: host };
  if (action !== 'allow') return exactly(asks.map((rule) => ({ ...rule, when: [named], action })));
  const plain = host
    .replace(/[^A-Za-z0-9*.-]/g, '')
    .replaceAll('.', '\\.')
    .replace(/^\*\\\./, '[^/?#@]+\\.');
  const only = { key: 'url', op: 'regex', value: `(?i)https?://${plain}(:[0-9]+)?([/?#].*)?` };
  return exactly(fetching.map((rule) => ({ ...rule, when: [named, only] })));
}

const serverAsks = (name: string): readonly DraftRule[] => {
  const server = name.split('__')[1] ?? '';
  return [/^[^*?[\]]+$/.test(server) ? { tools: server, action: 'approve' } : { action: 'approve' }];
};

function serverRule(action: Action, name: string): Outcome {
  const [, server = '', ...rest] = name.split('__');
  const tool = rest.join('__');
  if (Object.hasOwn(builtInTools, server)) return inexact(action, 'that name is a built-in toolset here', []);
  if (/[*?[\]]/.test(server) || server === '') return inexact(action, 'a pattern of servers', serverAsks(name));
  if (tool === '' || tool === '*') return exactly([{ tools: server, action }]);
  if (/[*?[\]]/.test(tool)) return inexact(action, 'a pattern of tools', serverAsks(name));
  return exactly([{ tools: server, tool, action }]);
}
