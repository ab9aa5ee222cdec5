import type { Policy, Rule } from '../schema/policy.ts';
import type { PolicyStructure, WrittenRule } from '../schema/policy-views.ts';
import { canonicalJson } from '../text/canonical-json.ts';

/** What was added, removed and moved between two documents, and which blocks changed (02 §14.5). */
export function compareStructure(a: Policy, b: Policy): PolicyStructure {
  const left = a.rules.map(writtenRule);
  const right = b.rules.map(writtenRule);
  const pairs = pairUp(left.map(canonicalJson), right.map(canonicalJson));
  const kept = new Set(longestRising(pairs.map(([, to]) => to)));
  const fromLeft = new Set(pairs.map(([from]) => from));
  const fromRight = new Set(pairs.map(([, to]) => to));
  return {
    blocks: (['default_action', 'compute', 'attention', 'trusted_binaries'] as const)
      .filter((block) => canonicalJson(a[block]) !== canonicalJson(b[block]))
      .map((block) => ({ block, a: a[block], b: b[block] })),
    removed: left.flatMap((rule, index) => (fromLeft.has(index) ? [] : [{ index, rule }])),
    added: right.flatMap((rule, index) => (fromRight.has(index) ? [] : [{ index, rule }])),
    moved: pairs.filter((_, place) => !kept.has(place)).map(([from, to]) => ({ from, to })),
  };
}

/** A rule as a document would write it, without what is absent and without its note, which decides nothing. */
function writtenRule({ tools, tool, when, action, timeout_s, on_timeout }: Rule): WrittenRule {
  return {
    ...(tools === '' ? {} : { tools }),
    ...(tool === '' ? {} : { tool }),
    ...(when.length === 0 ? {} : { when: when.map(({ key, op, value }) => ({ key, op, value })) }),
    action,
    ...(timeout_s === 0 ? {} : { timeout_s }),
    ...(on_timeout === null ? {} : { on_timeout }),
  };
}

/** Equal texts of both lists, each used once, in the order of the first list. */
function pairUp(left: readonly string[], right: readonly string[]): readonly (readonly [number, number])[] {
  const places = new Map<string, number[]>();
  for (const [index, text] of right.entries()) places.set(text, [...(places.get(text) ?? []), index]);
  return left.flatMap((text, index) => {
    const to = places.get(text)?.shift();
    return to === undefined ? [] : [[index, to] as const];
  });
}

/** Places of a longest rising run of numbers that need not stand side by side: what did not move. */
function longestRising(numbers: readonly number[]): readonly number[] {
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  for (const [place, value] of numbers.entries()) {
    const found = ends.findIndex((end) => (numbers[end] ?? 0) >= value);
    const at = found < 0 ? ends.length : found;
    before[place] = ends[at - 1];
    ends[at] = place;
  }
  const kept: number[] = [];
  for (let place = ends.at(-1); place !== undefined; place = before[place]) kept.unshift(place);
  return kept;
}
