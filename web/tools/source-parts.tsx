import { numbered } from '../parts/numbered.ts';
import { Button } from '../parts/button.tsx';
import { CodeBlock } from '../parts/code-block.tsx';
import { AreaField } from '../parts/field.tsx';
import { Safe } from '../parts/safe.tsx';
import { stateWords } from './tool-list.tsx';

export type Drift = {
  readonly tool: string;
  readonly change: 'new' | 'changed';
  readonly before: unknown;
  readonly after: unknown;
};

/** Definitions that differ from what was accepted: old and new side by side, each accepted by who has seen it. */
export function DriftList({
  drift,
  busy,
  onAccept,
}: {
  readonly drift: readonly Drift[];
  readonly busy: boolean;
  /** @param tools names of those that are accepted */
  readonly onAccept: (tools: readonly string[]) => void;
}) {
  if (drift.length === 0) return null;
  return (
    <section className="stack tight" aria-label="Changed definitions">
      <p className="note warn">
        {drift.length === 1 ? 'One definition differs' : `${drift.length} definitions differ`} from what was accepted.
        No model gets {drift.length === 1 ? 'that tool' : 'those tools'} before you accept.
      </p>
      {drift.map(({ tool, change, before, after }) => (
        <div key={tool} className="stack tight">
          <div className="row spread">
            <strong className="mono">
              <Safe text={tool} />
            </strong>
            <span className="row">
              <span className="tag warn">{change}</span>
              <Button size="small" look="primary" busy={busy} onClick={() => onAccept([tool])}>
                Accept<span className="sr"> {tool}</span>
              </Button>
            </span>
          </div>
          <div className="drift">
            <div>
              <p className="label">Accepted</p>
              <CodeBlock text={before === null ? 'nothing' : textOf(before)} label={`Accepted definition of ${tool}`} />
            </div>
            <div>
              <p className="label">Now</p>
              <CodeBlock text={textOf(after)} label={`New definition of ${tool}`} />
            </div>
          </div>
        </div>
      ))}
      {drift.length > 1 ? (
        <Button busy={busy} onClick={() => onAccept(drift.map(({ tool }) => tool))}>
          Accept all {drift.length}
        </Button>
      ) : null}
    </section>
  );
}

const textOf = (value: unknown): string => JSON.stringify(value, null, 2);

export type SourceTool = {
  readonly tool: string;
  readonly description: string;
  readonly state: keyof typeof stateWords;
  readonly flags: readonly string[];
};

/** The tools of a source with why one of them cannot be called. */
export function SourceTools({ tools }: { readonly tools: readonly SourceTool[] }) {
  if (tools.length === 0) return <p className="muted small">Its tools are not known yet.</p>;
  return (
    <details>
      <summary>{tools.length === 1 ? '1 tool' : `${tools.length} tools`}</summary>
      <ul className="stack tight source-tools">
        {tools.map(({ tool, description, state, flags }) => (
          <li key={tool}>
            <span className="mono">
              <Safe text={tool} />
            </span>{' '}
            {state === 'ready' ? null : <span className="tag warn">{stateWords[state]}</span>}{' '}
            <span className="muted small wrap">
              <Safe text={description.split('\n', 1)[0] ?? ''} />
            </span>
            {numbered(flags).map(({ key, part }) => (
              <span key={key} className="small wrap">
                {' '}
                <Safe text={part} />
              </span>
            ))}
          </li>
        ))}
      </ul>
    </details>
  );
}

const keptHint = (set: readonly string[]): string =>
  set.length === 0
    ? 'One a line: Name: value. Values are never shown again.'
    : `Set: ${set.join(', ')}. One a line; a name alone keeps its value, a name that is left out is removed.`;

/** `Name: value` lines of a map whose values only go in; names that are set already are said, and an empty value keeps it. */
export const MapField = ({
  label,
  set = [],
  hint = keptHint(set),
  value,
  onChange,
}: {
  readonly label: string;
  readonly set?: readonly string[];
  /** Where a name alone says something else. */
  readonly hint?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) => (
  <AreaField
    label={label}
    rows={3}
    autoComplete="off"
    spellCheck={false}
    value={value}
    onChange={(event) => onChange(event.target.value)}
    hint={hint}
  />
);
