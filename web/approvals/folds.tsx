import type { ReactNode } from 'react';
import { Button } from '../parts/button.tsx';
import { Safe } from '../parts/safe.tsx';

/** Lines of one part that a card shows before the rest is asked for. */
export const foldedLines = 24;

/** A part of a card: its lines, and those that are hidden, counted. */
export function Fold({
  label,
  total,
  open,
  onOpen,
  children,
}: {
  readonly label: string;
  readonly total: number;
  readonly open: boolean;
  readonly onOpen: () => void;
  readonly children: ReactNode;
}) {
  const hidden = open ? 0 : Math.max(0, total - foldedLines);
  return (
    <div className="card-part">
      <h3>
        <Safe text={label} />
      </h3>
      {children}
      {hidden === 0 ? null : (
        <p className="row small">
          <span>
            {hidden} of {total} lines hidden
          </span>
          <Button size="small" onClick={onOpen}>
            Show them
          </Button>
        </p>
      )}
    </div>
  );
}
