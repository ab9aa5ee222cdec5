import { type ReactNode, useEffect, useState } from 'react';
import { onReturn } from '../data/on-return.ts';
import type { Data } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { Empty, Loaded } from '../parts/states.tsx';

/** What is registered of one kind, with the form that adds one or changes it. */
export function SourceList<T>({
  data,
  add,
  none,
  row,
  form,
}: {
  readonly data: Data<readonly T[]>;
  /** Words of the button. */
  readonly add: string;
  /** What one would be good for, where there is none. */
  readonly none: string;
  row(one: T, onEdit: () => void, reload: () => void): ReactNode;
  /** @param one null for a new one */
  form(one: T | null, onClose: () => void, onDone: () => void): ReactNode;
}) {
  const [open, setOpen] = useState<{ readonly one: T | null } | null>(null);
  // How a source was found at its last look is told by nothing that happens.
  useEffect(() => onReturn(data.reload), [data.reload]);
  const close = (): void => setOpen(null);
  const done = (): void => {
    close();
    data.reload();
  };
  const button = <Button onClick={() => setOpen({ one: null })}>{add}</Button>;
  return (
    <div className="stack">
      <Loaded data={data}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty action={button}>{none}</Empty>
          ) : (
            <>
              <div>{button}</div>
              {rows.map((one) => row(one, () => setOpen({ one }), data.reload))}
            </>
          )
        }
      </Loaded>
      {open === null ? null : form(open.one, close, done)}
    </div>
  );
}
