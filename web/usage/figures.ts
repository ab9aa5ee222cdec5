import type { UsageRow } from '../../src/client/routes/usage.ts';
import { formatCount, formatRemaining } from '../../src/view/format.ts';

/** What is drawn: how it is read off a row, and how a sum is written. */
export const measures = {
  tokens: {
    title: 'Tokens',
    of: (row: UsageRow) => row.input_tokens + row.output_tokens,
    format: formatCount,
  },
  time: {
    title: 'Time of the models',
    of: (row: UsageRow) => row.model_ms,
    format: (sum: number) => (sum < 1000 ? `${Math.round(sum)} ms` : formatRemaining(sum)),
  },
  asks: {
    title: 'Questions to you',
    of: (row: UsageRow) => row.asks,
    format: formatCount,
  },
} as const;
export type Measure = keyof typeof measures;

const modelName = ({ model }: Pick<UsageRow, 'model'>): string => model ?? 'no model';

/** Every day from the first to the last, as `YYYY-MM-DD`. */
export function daysOf(from: string, to: string): readonly string[] {
  const days: string[] = [];
  const last = Date.parse(to);
  for (let at = Date.parse(from); at <= last; at += 86_400_000) days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}

export type ModelTotal = Pick<
  UsageRow,
  'runs' | 'input_tokens' | 'output_tokens' | 'model_ms' | 'asks' | 'waited_ms'
> & { readonly model: string };

/** Sums over all days, the model with most tokens first. */
export function byModel(rows: readonly UsageRow[]): readonly ModelTotal[] {
  const totals = new Map<string, ModelTotal>();
  for (const row of rows) {
    const model = modelName(row);
    const sum = totals.get(model);
    totals.set(model, {
      model,
      runs: row.runs + (sum?.runs ?? 0),
      input_tokens: row.input_tokens + (sum?.input_tokens ?? 0),
      output_tokens: row.output_tokens + (sum?.output_tokens ?? 0),
      model_ms: row.model_ms + (sum?.model_ms ?? 0),
      asks: row.asks + (sum?.asks ?? 0),
      waited_ms: row.waited_ms + (sum?.waited_ms ?? 0),
    });
  }
  return [...totals.values()].sort((a, b) => b.input_tokens + b.output_tokens - a.input_tokens - a.output_tokens);
}

/** One piece of a day's bar; heights are parts of the highest day. */
export type Piece = { readonly model: string; readonly from: number; readonly to: number; readonly sum: number };
export type Bar = { readonly day: string; readonly sum: number; readonly pieces: readonly Piece[] };

/** The bars of a chart, each made of the models of that day in the order of `models`. */
export function barsOf(
  measure: Measure,
  days: readonly string[],
  rows: readonly UsageRow[],
  models: readonly string[],
): { readonly bars: readonly Bar[]; readonly most: number } {
  const { of } = measures[measure];
  const sums = days.map((day) =>
    models.map((model) =>
      rows.filter((row) => row.day === day && modelName(row) === model).reduce((sum, row) => sum + of(row), 0),
    ),
  );
  const totals = sums.map((parts) => parts.reduce((sum, part) => sum + part, 0));
  const most = Math.max(0, ...totals);
  const bars = days.map((day, index): Bar => {
    let below = 0;
    const pieces = models.map((model, place): Piece => {
      const sum = sums[index]?.[place] ?? 0;
      const from = most === 0 ? 0 : below / most;
      below += sum;
      return { model, sum, from, to: most === 0 ? 0 : below / most };
    });
    return { day, sum: totals[index] ?? 0, pieces: pieces.filter(({ sum }) => sum > 0) };
  });
  return { bars, most };
}
