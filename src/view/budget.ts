const counted: Readonly<Record<string, string>> = {
  maxTurns: 'model call',
  maxToolCalls: 'tool call',
  maxTokens: 'token',
};

/** A bound as its ask tells of it: its name, what is used of it, and what one more grant means (10 §7.8). */
export type BudgetWords = { readonly bound: string; readonly used: string; readonly grant: string };

/** @param args of the ask, as the runtime wrote them */
export function budgetWords(args: unknown): BudgetWords {
  const { bound, used, limit, more } = args as { bound: string; used: number; limit: number; more: number };
  const unit = counted[bound];
  const units = (count: number) => (unit === undefined ? bound : count === 1 ? unit : `${unit}s`);
  return {
    bound,
    used: `${used} of ${limit} ${units(limit)}`,
    grant: `${more} more ${units(more)} for this run; then it asks again`,
  };
}
