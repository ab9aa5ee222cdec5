import { is, object, optional, string } from 'superstruct';
import { maxResultBytes, StepSummary } from '../schema/plan.ts';
import type { Plans } from '../store/plans.ts';
import { exceedsBytes, utf8Length } from '../text/utf8.ts';
import { cutTail } from '../chain/cap.ts';
import { inputSchema } from '../tools/input-schema.ts';
import { defineTool, type Prepared, type Tool, type ToolSite } from '../tools/tool.ts';
import { outermostJson } from './read-steps.ts';

export type SummaryToolDeps = {
  readonly plans: Pick<Plans, 'setSummary'>;
  readonly stepId: string;
  /** The executor's run: the step must still be on it. */
  readonly runId: string;
  readonly write: <T>(body: () => T) => T;
  readonly mask: <T>(value: T) => T;
};

/** Limits of 05 §8. */
const maxTextBytes = 4096;
const mostArtifacts = 50;
const mostCaveats = 20;

/**
 * `plan_summary` (05 §8): where the summariser of a step leaves what it wrote. It reaches the row of its own step and
 * nothing else, and only a chain calls it, never a model.
 */
export function createSummaryTools(deps: SummaryToolDeps): readonly Tool[] {
  const store = (set: Parameters<Plans['setSummary']>[2], status: string) =>
    deps.write(() => deps.plans.setSummary(deps.stepId, deps.runId, deps.mask(set)))
      ? ({ ok: true, value: { status } } as const)
      : ({ ok: false, error: 'conflict', message: 'The step has changed meanwhile; nothing was stored.' } as const);

  const text = object({ text: string() });
  const withProblem = object({ text: string(), problem: optional(string()) });
  return [
    defineTool<{ text: string }, null>({
      spec: {
        tools: 'plan_summary',
        tool: 'persist',
        description: 'Checks and stores the summary of the step.',
        input_schema: inputSchema(text, { text: { description: 'The JSON object of the summary.' } }),
        read_only: false,
      },
      args: text,
      prepare: (args, site) => fromChain(args.text, site),
      async execute(args) {
        const read = readSummary(args.text);
        if (!read.ok) return { ok: true, value: { status: 'invalid', problems: read.problems } };
        return store({ summary: JSON.stringify(read.summary), summary_error: null }, 'ok');
      },
    }),
    defineTool<{ text: string; problem?: string | undefined }, null>({
      spec: {
        tools: 'plan_summary',
        tool: 'fallback',
        description: 'Stores the last words of the step in place of a summary.',
        input_schema: inputSchema(withProblem, {
          text: { description: 'The text that stands for a summary.' },
          problem: { description: 'What was wrong with the summary.' },
        }),
        read_only: false,
      },
      args: withProblem,
      prepare: (args, site) => fromChain(args.text, site),
      async execute(args) {
        const problem =
          (args.problem ?? '').trim() === '' ? 'the summariser gave no summary' : (args.problem ?? '').trim();
        const result_text = exceedsBytes(args.text, maxResultBytes)
          ? cutTail(args.text, maxResultBytes, utf8Length(args.text))
          : args.text;
        return store({ summary: null, summary_error: problem.slice(0, 2000), result_text }, 'fallback');
      },
    }),
  ];
}

function fromChain(text: string, site: ToolSite): Prepared<null> {
  if (!site.direct) {
    return { ok: false, error: 'unsupported', message: 'plan_summary is called by the chain of a summariser only.' };
  }
  return { ok: true, facts: null, cwd: site.root, summary: text.split('\n', 1)[0]?.slice(0, 120) ?? '' };
}

/** The outermost JSON object of the text, checked; unknown members are dropped (05 §8). */
function readSummary(
  text: string,
): { readonly ok: true; readonly summary: StepSummary } | { readonly ok: false; readonly problems: readonly string[] } {
  const from = text.indexOf('{');
  const found = from < 0 ? null : outermostJson(text.slice(from));
  if (typeof found !== 'object' || found === null || Array.isArray(found)) {
    return { ok: false, problems: ['the text holds no JSON object'] };
  }
  const given = found as Readonly<Record<string, unknown>>;
  const problems: string[] = [];
  const { outcome } = given;
  if (outcome !== 'success' && outcome !== 'partial' && outcome !== 'blocked') {
    problems.push('"outcome" must be success, partial or blocked');
  }
  for (const name of ['summary', 'handover_for_next']) {
    const value = given[name];
    if (typeof value !== 'string' || value.trim() === '') problems.push(`"${name}" must be a text that is not empty`);
    else if (exceedsBytes(value, maxTextBytes)) problems.push(`"${name}" is above ${maxTextBytes} bytes`);
  }
  const artifacts = listOf(given['artifacts'], 'artifacts', mostArtifacts, problems).map(artifact);
  const caveats = listOf(given['caveats'], 'caveats', mostCaveats, problems);
  const { summary: words, handover_for_next } = given;
  const summary: unknown = { outcome, summary: words, artifacts, handover_for_next, caveats };
  if (problems.length > 0) return { ok: false, problems };
  if (!is(summary, StepSummary)) {
    return { ok: false, problems: ['"artifacts" must be objects of kind, ref and note, "caveats" must be texts'] };
  }
  return { ok: true, summary };
}

function listOf(value: unknown, name: string, most: number, problems: string[]): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    problems.push(`"${name}" must be a list`);
    return [];
  }
  if (value.length > most) problems.push(`"${name}" has more than ${most} entries`);
  return value;
}

const artifact = (entry: unknown): unknown => {
  if (typeof entry !== 'object' || entry === null) return entry;
  const { kind, ref, note } = entry as Readonly<Record<string, unknown>>;
  return { kind: kind ?? 'other', ref, note: note ?? '' };
};
