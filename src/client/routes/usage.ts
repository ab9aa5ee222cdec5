import { array, type Infer, nullable, number, object, optional, string } from 'superstruct';
import { count } from '../fields.ts';
import { route, shown } from '../operation.ts';

/** What the runs of one day came to with one model. */
export const UsageRow = object({
  /** `YYYY-MM-DD`, of the day that the offset of the request makes. */
  day: string(),
  model: nullable(string()),
  provider: nullable(string()),
  runs: number(),
  input_tokens: number(),
  output_tokens: number(),
  /** Some of the tokens were counted here, because the model did not say. */
  estimated: number(),
  turns: number(),
  tool_calls: number(),
  /** Milliseconds spent in requests to the model. */
  model_ms: number(),
  /** Milliseconds from the beginnings of runs to their ends, waits for people included. */
  total_ms: number(),
  asks: number(),
  /** Milliseconds that answered asks were open. */
  waited_ms: number(),
});
export type UsageRow = Infer<typeof UsageRow>;

/** Figures over runs, for charts. */
export const usageRoutes = {
  /** Oldest day first; days without a run are left out. `offset_minutes` is that of the reader's clock from UTC. */
  getUsage: route(
    'GET',
    '/api/usage',
    'any',
    object({ days: optional(count(1, 366)), offset_minutes: optional(count(-840, 840)) }),
    shown(object({ from: string(), to: string(), items: array(UsageRow) })),
  ),
} as const;
