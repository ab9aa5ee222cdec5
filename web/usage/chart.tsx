import type { UsageRow } from '../../src/client/routes/usage.ts';
import { barsOf, byModel, type Measure, measures } from './figures.ts';
import '../styles/usage.css';

const width = 340;
const height = 130;
/** Further models share the last look. */
const looks = 5;

/** One measure by day, each bar made of its models. The same figures are in a table behind it. */
export function DayChart({
  measure,
  days,
  rows,
}: {
  readonly measure: Measure;
  readonly days: readonly string[];
  readonly rows: readonly UsageRow[];
}) {
  const { title, format } = measures[measure];
  const models = byModel(rows).map(({ model }) => model);
  const { bars, most } = barsOf(measure, days, rows, models);
  const slot = width / Math.max(1, bars.length);
  const total = bars.reduce((sum, bar) => sum + bar.sum, 0);
  return (
    <figure className="panel chart">
      <figcaption className="row spread">
        <strong>{title}</strong>
        <span className="muted small">{format(total)} in all</span>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height + 18}`} role="img" aria-label={`${title} by day, at most ${format(most)}`}>
        <line x1="0" x2={width} y1={height} y2={height} className="chart-line" />
        {bars.map(({ day, sum, pieces }, index) => (
          <g key={day}>
            <title>{`${day}: ${format(sum)}`}</title>
            {pieces.map(({ model, from, to }) => (
              <rect
                key={model}
                className={`chart-part part-${Math.min(looks - 1, models.indexOf(model))}`}
                x={index * slot + slot * 0.12}
                width={slot * 0.76}
                y={height - to * height}
                height={Math.max(1, (to - from) * height)}
              />
            ))}
          </g>
        ))}
        <text x="0" y={height + 14}>
          {days[0]?.slice(5)}
        </text>
        <text x={width} y={height + 14} textAnchor="end">
          {days.at(-1)?.slice(5)}
        </text>
      </svg>
      <ul className="legend" aria-label="Models">
        {models.slice(0, looks).map((model, index) => (
          <li key={model}>
            <i className={`legend-sign sign-${index}`} /> <span className="mono">{model}</span>
          </li>
        ))}
      </ul>
      <details className="small">
        <summary>As a table</summary>
        <table className="chart-table">
          <caption className="sr">{title} by day</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">{title}</th>
            </tr>
          </thead>
          <tbody>
            {bars
              .filter(({ sum }) => sum > 0)
              .map(({ day, sum }) => (
                <tr key={day}>
                  <td>{day}</td>
                  <td>{format(sum)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}
