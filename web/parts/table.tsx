import type { ReactNode } from 'react';

export type Column<T> = {
  readonly label: string;
  /** Its buttons say what they are for; the label is for those who hear the table alone. */
  readonly unseen?: boolean;
  /** A number: to the right, in one line. */
  readonly right?: boolean;
  /** A word or two that stay in one line. */
  readonly brief?: boolean;
  /** A word or a name: broken within only where it is longer than a third of the table. */
  readonly words?: boolean;
  /** Left out where there is little room beside it; the page of the row says it, too. */
  readonly spare?: boolean;
  readonly cell: (row: T) => ReactNode;
};

/** Rows under labelled columns; cards below 640 px, where each value has its label beside it. */
export function Table<T>({
  caption,
  dense = false,
  columns,
  rows,
  keyOf,
}: {
  /** Said to screen readers. */
  readonly caption: string;
  /** Its cards are low: words without their labels, what is brief or a number in the lines below, nothing spare. */
  readonly dense?: boolean;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
}) {
  return (
    <table className={dense ? 'table dense' : 'table'}>
      <caption className="sr">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.label} scope="col" className={lookOf(column)}>
              {column.unseen === true ? <span className="sr">{column.label}</span> : column.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map((column) => (
              <td key={column.label} data-label={column.unseen === true ? '' : column.label} className={lookOf(column)}>
                <div>{column.cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const lookOf = ({
  right,
  brief,
  words,
  spare,
}: Omit<Column<never>, 'label' | 'cell' | 'unseen'>): string | undefined => {
  const looks = { right, brief, words, spare };
  const own = Object.entries(looks).flatMap(([look, is]) => (is === true ? [look] : []));
  return own.length === 0 ? undefined : own.join(' ');
};
