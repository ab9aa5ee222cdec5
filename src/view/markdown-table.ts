import type { Tokens } from 'marked';
import { type Line, say, type Span } from './line.ts';
import { lineColumns, wrapLine } from './wrap.ts';

/** A table in columns where it fits; else one `Header: value` line for each cell, rows apart (10 §5.3). */
export function tableLines(
  table: Tokens.Table,
  columns: number,
  cellOf: (cell: Tokens.TableCell) => Line,
): readonly Line[] {
  const head = table.header.map((cell) => cellOf(cell).map(bold));
  const body = table.rows.map((row) => row.map(cellOf));
  const widths = head.map((cell, index) =>
    Math.max(lineColumns(cell), ...body.map((row) => lineColumns(row[index] ?? []))),
  );
  const whole = widths.reduce((sum, width) => sum + width, 0) + 2 * (widths.length - 1);
  if (whole > columns) return listed(head, body, columns);
  const rowLine = (cells: readonly Line[]): Line =>
    widths.flatMap((width, index) => aligned(cells[index] ?? [], width, table.align[index] ?? null, index > 0));
  return [rowLine(head), [say('─'.repeat(whole), 'border')], ...body.map(rowLine)];
}

const bold = (span: Span): Span => ({ ...span, marks: [...(span.marks ?? []), 'bold'] });

function aligned(cell: Line, width: number, align: 'left' | 'right' | 'center' | null, apart: boolean): Line {
  const free = width - lineColumns(cell);
  const before = align === 'right' ? free : align === 'center' ? Math.floor(free / 2) : 0;
  return [say(`${apart ? '  ' : ''}${' '.repeat(before)}`), ...cell, say(' '.repeat(free - before))];
}

function listed(head: readonly Line[], body: readonly (readonly Line[])[], columns: number): readonly Line[] {
  return body.flatMap((row, index) => [
    ...(index === 0 ? [] : [[]]),
    ...row.flatMap((cell, at) => wrapLine([...(head[at] ?? []), say(': '), ...cell], columns, [], [say('  ')])),
  ]);
}

/** A table for ears: each cell with its header, rows apart. */
export function toldTable({ header, rows, raw }: Tokens.Table): string {
  const lines = rows.map((row) => row.map((cell, index) => `${header[index]?.text ?? ''}: ${cell.text}`).join('\n'));
  return `${lines.join('\n\n')}${/\n*$/.exec(raw)?.[0] ?? ''}`;
}
