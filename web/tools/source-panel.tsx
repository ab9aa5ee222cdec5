import type { ReactNode } from 'react';
import { type Action, useAction } from '../data/use-data.ts';
import { Button, SureButton } from '../parts/button.tsx';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { type Drift, DriftList, SourceTools, type SourceTool } from './source-parts.tsx';
import '../styles/tools.css';

type SourceAction = Action<[what: () => Promise<unknown>], boolean>;

/** Does something to a source, and reads it again whatever became of that. */
export const useSourceAction = (reload: () => void): SourceAction =>
  useAction(async (what: () => Promise<unknown>) => {
    try {
      await what();
      return true;
    } finally {
      // A refusal, too, may come of what is another now than is shown: what was accepted has changed again.
      reload();
    }
  });

/** One source of tools: how it stands, its tools, what has changed of them, and what can be done to it. */
export function SourcePanel({
  name,
  state,
  look,
  tools,
  drift,
  action,
  accept,
  remove,
  onEdit,
  check,
  onCheck,
  children,
}: {
  readonly name: string;
  /** In words. */
  readonly state: string;
  /** Class of the tag that says its state; empty for none. */
  readonly look: string;
  readonly tools: readonly SourceTool[];
  readonly drift: readonly Drift[];
  readonly action: SourceAction;
  readonly accept: (tools: string[]) => Promise<unknown>;
  readonly remove: () => Promise<unknown>;
  readonly onEdit: () => void;
  /** Words of the button that looks at it. */
  readonly check: string;
  readonly onCheck: () => void;
  readonly children: ReactNode;
}) {
  const { run, busy, error } = action;
  return (
    <section className="panel stack tight" aria-label={name}>
      <div className="row spread">
        <h2>
          <Safe text={name} />
        </h2>
        <span className={`tag ${look}`}>{state}</span>
      </div>
      {children}
      {error === null ? null : <ErrorNote error={error} />}
      <SourceTools tools={tools} />
      <DriftList drift={drift} busy={busy} onAccept={(accepted) => void run(() => accept([...accepted]))} />
      <div className="row">
        <Button busy={busy} onClick={onCheck}>
          {check}
        </Button>
        <Button onClick={onEdit}>Edit…</Button>
        <SureButton word="Remove" sureWord="Really remove it?" busy={busy} onSure={() => void run(remove)} />
      </div>
    </section>
  );
}
