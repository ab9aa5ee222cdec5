import type { ReactNode } from 'react';

export type Column<T> = {
  readonly label: string;
  /** A number: to the right, in one line. */
  readonly right?: boolean;
  /** A word or two that stay in one line. */
  readonly brief?: boolean;
  readonly cell: (row: T) => ReactNode;
};

/** Rows under labelled columns; cards below 640 px, where each value has its label beside it. */
export function Table<T>({
  caption,
  columns,
  rows,
  keyOf,
}: {
  /** Said to screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
}) {
  return (
    <table className="table">
      <caption className="sr">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ label, right }) => (
            <th key={label} scope="col" className={right === true ? 'right' : undefined}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ label, right, brief, cell }) => (
              <td
                key={label}
                data-label={label}
                className={right === true ? 'right' : brief === true ? 'brief' : undefined}
              >
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
