import type { Sql } from './sql.ts';

/** Sums over the runs of one day with one model. */
type UsageSums = {
  readonly day: string;
  readonly model: string | null;
  readonly provider: string | null;
  readonly runs: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly estimated: number;
  readonly turns: number;
  readonly tool_calls: number;
  readonly model_ms: number;
  readonly total_ms: number;
  readonly asks: number;
  readonly waited_ms: number;
};

const dayMs = 86_400_000;

/**
 * What runs came to by day and model. A run belongs to the day on which it was created.
 * @param offsetMinutes of the reader's clock from UTC: where the days begin
 */
export function readUsage(sql: Sql, tenant: string, wanted: { days: number; offsetMinutes: number; now: number }) {
  const shift = wanted.offsetMinutes * 60_000;
  const today = Math.floor((wanted.now + shift) / dayMs);
  const first = today - wanted.days + 1;
  const dayOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);
  const items = sql.all<UsageSums>(
    `SELECT date((r.created_at + ?) / 1000, 'unixepoch') AS day, r.model, r.provider, count(*) AS runs,
       sum(coalesce(json_extract(r.usage, '$.input_tokens'), 0)) AS input_tokens,
       sum(coalesce(json_extract(r.usage, '$.output_tokens'), 0)) AS output_tokens,
       sum(coalesce(json_extract(r.usage, '$.estimated'), 0)) AS estimated,
       sum(coalesce(json_extract(r.counters, '$.turns'), 0)) AS turns,
       sum(coalesce(json_extract(r.counters, '$.tool_calls'), 0)) AS tool_calls,
       sum(coalesce(json_extract(r.counters, '$.api_ms'), 0)) AS model_ms,
       sum(CASE WHEN r.ended_at IS NULL THEN 0 ELSE r.ended_at - coalesce(r.started_at, r.created_at) END) AS total_ms,
       sum((SELECT count(*) FROM asks a WHERE a.run_id = r.id)) AS asks,
       sum((SELECT coalesce(sum(a.resolved_at - a.created_at), 0) FROM asks a WHERE a.run_id = r.id AND a.resolved_at IS NOT NULL)) AS waited_ms
     FROM runs r WHERE r.tenant_id = ? AND r.created_at >= ?
     GROUP BY day, r.model, r.provider ORDER BY day, r.model, r.provider`,
    shift,
    tenant,
    first * dayMs - shift,
  );
  return { from: dayOf(first), to: dayOf(today), items };
}
