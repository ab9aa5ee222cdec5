import type { Action } from '../../schema/policy.ts';
import { commandPrefix } from './commands.ts';
import {
  type Draft,
  dropped,
  exactly,
  type Imported,
  inert,
  lineAt,
  narrowed,
  onShell,
  type Outcome,
  type SourceFile,
} from './draft.ts';
import { createLiteralReader, type Literal, textsOf, Unreadable } from './literals.ts';
import { readToml } from './toml.ts';

const decisions: Readonly<Record<string, Action>> = { forbidden: 'deny', prompt: 'approve', allow: 'allow' };
/** Most commands that the alternatives of one pattern may stand for. */
const maxAlternatives = 256;

/** `*.rules` of Codex, and what its `config.toml` says about asking (02 §15). */
export function importCodex(files: readonly SourceFile[]): Imported {
  const drafts: Draft[] = [];
  const dirs: string[] = [];
  const cases: { command: string; action: Action }[] = [];
  const unread: { path: string; message: string }[] = [];
  for (const file of files) {
    if (file.path.endsWith('.toml')) {
      const read = readToml(file.text);
      if ('message' in read) unread.push({ path: file.path, message: `${read.message} (line ${read.line})` });
      else drafts.push(...configDrafts(file, read[0]?.values ?? new Map()));
      continue;
    }
    for (const call of callsIn(file.text)) {
      const base = { path: file.path, level: file.level, line: call.line, text: call.text };
      if (call.fault !== null) {
        // What cannot be read may have refused anything.
        drafts.push({ ...base, ...narrowed(`${call.fault}: every command asks`, [onShell('approve')]) });
        continue;
      }
      if (call.name === 'host_executable') {
        const paths = textsOf(call.values.get('paths')) ?? [];
        dirs.push(...paths.map((path) => path.slice(0, Math.max(1, path.lastIndexOf('/')))));
        drafts.push({ ...base, ...exactly([], 'as trusted_binaries.dirs') });
        continue;
      }
      const decision = call.values.get('decision') ?? 'allow';
      const action = typeof decision === 'string' ? decisions[decision] : undefined;
      drafts.push({ ...base, ...(action === undefined ? unknown() : ruleOf(action, call.values)) });
      // Whether an allow holds depends on the machine; a refusal does not.
      const match = call.values.get('match');
      if (action === 'deny' || action === 'approve') {
        for (const one of Array.isArray(match) ? match : []) {
          const words = textsOf(one);
          if (words !== null) cases.push({ command: words.join(' '), action });
        }
      }
    }
  }
  return { drafts, default_action: 'approve', dirs: [...new Set(dirs)], cases, unread };
}

const unknown = (): Outcome => narrowed('the decision is not known: every command asks', [onShell('approve')]);

function ruleOf(action: Action, values: ReadonlyMap<string, Literal>): Outcome {
  const pattern = values.get('pattern');
  const why = values.get('justification');
  const note = typeof why === 'string' ? why : '';
  const steps = Array.isArray(pattern) ? pattern.map(textsOf) : [];
  if (steps.length === 0 || steps.some((step) => step === null)) return commandPrefix(action, []);
  let prefixes: (readonly string[])[] = [[]];
  for (const step of steps) {
    prefixes = prefixes.flatMap((prefix) => (step ?? []).map((word) => [...prefix, word]));
    if (prefixes.length > maxAlternatives) {
      const many = `stands for more than ${maxAlternatives} commands`;
      return action === 'allow' ? dropped(many) : narrowed(`${many}: every command asks`, [onShell('approve')]);
    }
  }
  const outcomes = prefixes.map((prefix) => commandPrefix(action, prefix, note));
  const worst = (['narrowed', 'dropped'] as const).find((one) => outcomes.some(({ outcome }) => outcome === one));
  const rules = outcomes.flatMap((one) => one.rules);
  const first = outcomes.find(({ outcome }) => outcome === worst)?.why ?? '';
  if (worst === undefined) return exactly(rules);
  return rules.length === 0 ? dropped(first) : narrowed(first, rules);
}

function configDrafts({ path, level, text }: SourceFile, values: ReadonlyMap<string, Literal>): readonly Draft[] {
  return ['approval_policy', 'sandbox_mode'].flatMap((key) => {
    const value = values.get(key);
    if (value === undefined) return [];
    const advice =
      value === 'never'
        ? 'nothing is allowed by it; --on-ask deny never asks'
        : value === 'read-only'
          ? 'use the built-in policy read-only for it'
          : 'nothing is allowed by it';
    const at = text.search(new RegExp(`^\\s*${key}\\s*=`, 'm'));
    return [{ path, level, line: lineAt(text, at + 1), text: `${key} = ${String(value)}`, ...inert(advice) }];
  });
}

type Call = {
  readonly name: string;
  readonly line: number;
  readonly text: string;
  readonly values: ReadonlyMap<string, Literal>;
  /** Why it was not read; null when it was. */
  readonly fault: string | null;
};

/** The calls of a rules file; whatever is no call with plain values is one with a fault. */
function callsIn(text: string): readonly Call[] {
  const reader = createLiteralReader(text);
  const calls: Call[] = [];
  for (reader.skip(); !reader.end(); reader.skip()) {
    const start = reader.at();
    const line = lineAt(text, start);
    const lineEnd = text.indexOf('\n', start);
    const shown = () => text.slice(start, reader.at()).replace(/\s+/g, ' ').slice(0, 200);
    const values = new Map<string, Literal>();
    try {
      const name = reader.word();
      if (name !== 'prefix_rule' && name !== 'host_executable') throw new Unreadable(`${name} is not read`, start);
      reader.skip();
      reader.expect('(');
      for (let first = true; ; first = false) {
        reader.skip();
        if (reader.take(')')) break;
        const key = reader.peek() === '[' && first ? 'pattern' : reader.word();
        reader.skip();
        if (key !== 'pattern' || reader.peek() === '=') reader.expect('=');
        values.set(key, reader.value());
        reader.skip();
        if (!reader.take(',')) reader.skip();
      }
      calls.push({ name, line, text: shown(), values, fault: null });
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      // To where the next statement may begin: a line that does.
      const next = /\n(?=[A-Za-z_])/g;
      next.lastIndex = Math.max(start, lineEnd < 0 ? text.length : lineEnd);
      reader.moveTo(next.exec(text)?.index ?? text.length);
      calls.push({ name: '', line, text: shown(), values, fault: `not read: ${error.message}` });
    }
  }
  return calls;
}
