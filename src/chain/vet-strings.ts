import { isLiteralLayout } from './clock.ts';
import { type Findings, type Place, placeOf } from './findings.ts';
import type { JsonNode, JsonString } from './json.ts';
import { type Macro, macroNamespaces, macroOf, macroSites } from './macro-syntax.ts';
import { checkTemplate } from './check-template.ts';
import { meantAmong, meantName } from './spelling.ts';
import { edgeKey } from './transition.ts';

/** Every string of a value, at any depth. */
export function stringsIn(node: JsonNode): JsonString[] {
  if (node.kind === 'string') return [node];
  if (node.kind === 'array') return node.items.flatMap(stringsIn);
  return node.kind === 'object' ? node.members.flatMap((member) => stringsIn(member.value)) : [];
}

/** Checks the macros of one string (04 §10). In plain fields every `{{…}}` that is none is a warning. */
export function vetMacros(
  node: JsonString,
  field: 'plain' | 'template',
  ids: ReadonlySet<string>,
  findings: Findings,
): void {
  if (!node.value.includes('{{')) return;
  const ends = new Map<number, number>();
  for (const site of macroSites(node.value)) {
    const macro = macroOf(site);
    if (macro === null) continue;
    ends.set(site.start, site.end);
    vetMacro(macro, node, site.start, ids, findings);
  }
  if (field === 'plain') warnUnknown(node, ends, findings);
}

function vetMacro(macro: Macro, node: JsonString, index: number, ids: ReadonlySet<string>, findings: Findings): void {
  const place = (): Place => findings.inside(node, index);
  if (macro.kind === 'bad') findings.error('bad_macro', place(), macro.message);
  if (macro.kind === 'time' && isLiteralLayout(macro.layout)) {
    findings.warning(
      'named_layout',
      place(),
      `${JSON.stringify(macro.layout)} comes out as it is; write how 2006-01-02 15:04:05 would look`,
    );
  }
  if (macro.kind !== 'edge_count') return;
  const key = edgeKey(macro.edge);
  if (key === null) {
    findings.error('bad_edge', place(), `${JSON.stringify(macro.edge)} is no edge; write from->to`);
    return;
  }
  const missing = key.split('->').find((id) => !ids.has(id));
  if (missing !== undefined) {
    findings.error(
      'bad_edge',
      place(),
      `there is no task ${JSON.stringify(missing)} for this edge${meantAmong(missing, ids)}`,
    );
  }
}

/** Warns of each `{{…}}` that stands in a plain field and is no macro: it stays literal (04 §10.3). */
function warnUnknown(node: JsonString, ends: ReadonlyMap<number, number>, findings: Findings): void {
  const text = node.value;
  let close = -1;
  let index = text.indexOf('{{');
  while (index >= 0) {
    const end = ends.get(index);
    if (end !== undefined) {
      index = text.indexOf('{{', end);
      continue;
    }
    if (close < index) close = text.indexOf('}}', index);
    if (close < 0) return;
    if (ends.has(index + 1)) {
      index += 1;
      continue;
    }
    const shown = text.slice(index, Math.min(close + 2, index + 60));
    findings.warning(
      'unknown_macro',
      findings.inside(node, index),
      `${shown} is no macro and stays as it is${meantMacro(shown)}`,
    );
    index = text.indexOf('{{', close + 2);
  }
}

/** A variable without its namespace, or a namespace that is misspelled. */
function meantMacro(shown: string): string {
  const [, name = '', rest = ''] = /^\{\{\s*(\w+)\s*((?::[^{}]*)?\}\})$/.exec(shown) ?? [];
  const namespace = rest.startsWith(':') ? meantName(name, macroNamespaces) : `var:${name}`;
  if (name === '' || namespace === null || macroNamespaces.some((known) => known === name)) return '';
  return `; did you mean {{${namespace}${rest}?`;
}

/**
 * Checks the syntax of a template field and the names it reads.
 * @param names what a template may read; null when anything may be there (`output_template`)
 * @returns the names that it reads
 */
export async function vetTemplate(
  node: JsonString,
  names: ReadonlySet<string> | null,
  findings: Findings,
): Promise<readonly string[]> {
  if (!node.value.includes('{{') && !node.value.includes('{%')) return [];
  const report = await checkTemplate(node.value, names === null ? 'output_template' : 'other');
  if (report.problem !== null) {
    const { code, message } = report.problem;
    findings.error(code, findings.inside(node, report.problem.at), message);
  }
  for (const { name, at: index } of report.names) {
    if (names === null || names.has(name)) continue;
    findings.warning(
      'unknown_variable',
      findings.inside(node, index),
      `there is no variable and no task ${JSON.stringify(name)}${meantAmong(name, names)}`,
    );
  }
  return report.names.map(({ name }) => name);
}

/** What keys and tokens look like. Each pattern has a bounded reach, so the search is linear. */
const secretForms =
  /\b(?:sk-[A-Za-z0-9_-]{20}|(?:AKIA|ASIA)[0-9A-Z]{16}\b|gh[pousr]_[A-Za-z0-9]{30}|github_pat_[A-Za-z0-9_]{20}|glpat-[A-Za-z0-9_-]{20}|xox[abeoprs]-[A-Za-z0-9-]{10}|AIza[A-Za-z0-9_-]{35}|eyJ[A-Za-z0-9_-]{10,200}\.eyJ[A-Za-z0-9_-]{10}|[Bb]earer [A-Za-z0-9._~+/-]{20})|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----/;

/** Warns of strings that look like a key or a token. */
export function warnSecrets(root: JsonNode, findings: Findings): void {
  for (const node of stringsIn(root)) {
    if (node.value.length >= 16 && secretForms.test(node.value)) {
      findings.warning('literal_secret', placeOf(node), 'this looks like a key or a token; a chain must not hold one');
    }
  }
}
