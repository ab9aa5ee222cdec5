import type { RunRecord } from '../../src/schema/run-record.ts';
import { formatCount } from '../../src/view/format.ts';

const words = { turns: 'model calls', tool_calls: 'tool calls', tokens: 'tokens' } as const;

/** What a run has used of its bounds. */
export const Bounds = ({ run }: { readonly run: Pick<RunRecord, 'bounds'> }) => (
  <dl className="facts small">
    {(['turns', 'tool_calls', 'tokens'] as const).map((name) => {
      const { used, max } = run.bounds[name];
      return (
        <div key={name} className="facts-row">
          <dt>{words[name]}</dt>
          <dd>
            {formatCount(used)}
            {max === null ? '' : ` of ${formatCount(max)}`}
            {max === null ? null : <progress value={used} max={max} aria-label={words[name]} />}
          </dd>
        </div>
      );
    })}
  </dl>
);
