import type { Action } from '../../schema/policy.ts';
import type { ImportLine, WrittenRule } from '../../schema/policy-views.ts';
import { selector } from '../compile.ts';
import { parsePolicy } from '../validate.ts';
import { vetPolicy } from '../vet.ts';
import type { Draft, DraftRule, Imported } from './draft.ts';

export type Assembled = {
  readonly document: {
    readonly version: 1;
    readonly default_action: 'approve' | 'deny';
    readonly rules: readonly WrittenRule[];
    readonly trusted_binaries?: { readonly dirs: readonly string[] };
  };
  readonly report: readonly ImportLine[];
};

type Line = { readonly draft: Draft; outcome: ImportLine['outcome']; why: string; readonly rules: number[] };
type Placed = { readonly rule: DraftRule; readonly line: Line };

/** Longest text of a source rule in the report, in characters. */
const maxShown = 200;

const order: readonly Action[] = ['deny', 'approve', 'allow'];

/**
 * The document of an import (02 §15): the given wall, then every deny, every ask, every allow, and last what the source
 * itself has as a fallback. So nothing is wider than it was, whatever the order of the source.
 */
export async function assemble(imported: Imported, wall: readonly WrittenRule[]): Promise<Assembled> {
  const lines = imported.drafts.map((draft): Line => ({ draft, outcome: draft.outcome, why: draft.why, rules: [] }));
  const placed = lines.flatMap((line) => line.draft.rules.map((rule): Placed => ({ rule, line })));
  const shadows = imported.drafts.flatMap(({ shadow }) => (shadow === undefined ? [] : [shadow]));
  const rules: WrittenRule[] = [...wall];
  const sorted = [
    ...order.flatMap((action) => placed.filter(({ rule }) => rule.last !== true && rule.action === action)),
    ...placed.filter(({ rule }) => rule.last === true),
  ];
  for (const { rule, line } of sorted) {
    const { last: _last, ...written } = rule;
    const fault = rule.action === 'allow' ? (shadowed(written, shadows) ?? (await faultOf(written))) : null;
    if (fault !== null) {
      line.outcome = 'dropped';
      line.why = fault;
      continue;
    }
    const before = coveredBy(rules, written);
    if (before === null) {
      rules.push(written);
      line.rules.push(rules.length - 1);
      continue;
    }
    if (!line.rules.includes(before)) line.rules.push(before);
    const decides = rules[before]?.action;
    if (decides !== rule.action) {
      line.outcome = 'narrowed';
      line.why = `rule ${before + 1} says ${decides} first`;
    }
  }
  const dirs = imported.dirs.length === 0 ? {} : { trusted_binaries: { dirs: imported.dirs } };
  return {
    document: { version: 1, default_action: imported.default_action, rules, ...dirs },
    report: lines.map(({ draft, outcome, why, rules: indexes }) => ({
      source: `${draft.path}:${draft.line}`,
      level: draft.level,
      text: draft.text.replace(/\s+/g, ' ').slice(0, maxShown),
      outcome: indexes.length === 0 && draft.rules.length > 0 ? 'dropped' : outcome,
      rules: indexes,
      why,
    })),
  };
}

/** Why a command is not allowed: a refusal of the source that no list of words covers may be about it. */
function shadowed({ tools, when }: WrittenRule, shadows: readonly string[]): string | null {
  if (tools !== 'local_shell') return null;
  const line = when?.find(({ op }) => op === 'eq')?.value;
  const words = when?.find(({ op }) => op === 'command_prefix_allowlist')?.value ?? '';
  const covers = (shadow: string): boolean =>
    (line ?? words).startsWith(shadow) || (line === undefined && shadow.startsWith(words));
  const shadow = shadows.find(covers);
  return shadow === undefined ? null : `${shadow}* of the source may be about it`;
}

/** Why a rule cannot stand in a document that passes vet; null when it can. */
async function faultOf(rule: WrittenRule): Promise<string | null> {
  const { policy, findings } = await parsePolicy(JSON.stringify({ rules: [rule] }));
  const all = policy === null ? findings : vetPolicy(policy);
  return all.find(({ severity }) => severity !== 'warn')?.message ?? null;
}

/** An earlier rule without conditions that matches every such call, or the same rule; null when there is none. */
function coveredBy(rules: readonly WrittenRule[], rule: WrittenRule): number | null {
  const covers = (wide = '', narrow = ''): boolean => selector(wide) === null || wide === narrow;
  const text = JSON.stringify(rule);
  const index = rules.findIndex(
    (one) =>
      JSON.stringify(one) === text ||
      (one.when === undefined && covers(one.tools, rule.tools) && covers(one.tool, rule.tool)),
  );
  return index < 0 ? null : index;
}
