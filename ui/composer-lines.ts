import { escapeText } from '../src/view/escape.ts';
import { type Line, say, type Span } from '../src/view/line.ts';
import { clustersOf, columnsOf } from '../src/view/wrap.ts';
import type { BasicComposer } from './basic-composer.ts';

/** Rows of the composer, with the caret; the rows around it when there are more than fit. */
export function composerLines(
  composer: BasicComposer,
  columns: number,
  rows: number,
  focused: boolean,
): readonly Line[] {
  const room = columns - 3;
  const out: { line: Span[]; caret: boolean }[] = [{ line: [], caret: false }];
  let used = 0;
  const put = (text: string, caret: boolean) => {
    const width = Math.max(1, columnsOf(text));
    if (used + width > room) {
      out.push({ line: [], caret: false });
      used = 0;
    }
    const row = out.at(-1);
    row?.line.push({ text: escapeText(text, { mode: 'line' }), ...(caret ? { caret: true as const } : {}) });
    if (row !== undefined && caret) row.caret = true;
    used += width;
  };
  const clusters = [...clustersOf(composer.before), '', ...clustersOf(composer.after)];
  const at = clustersOf(composer.before).length;
  for (let index = 0; index < clusters.length; index += 1) {
    const cluster = clusters[index] ?? '';
    if (index === at) {
      const next = clusters[index + 1];
      if (next === undefined || next === '\n') put(' ', focused);
      continue;
    }
    if (cluster === '\n') {
      out.push({ line: [], caret: false });
      used = 0;
    } else put(cluster, focused && index === at + 1);
  }
  const caretRow = Math.max(
    0,
    out.findIndex((row) => row.caret),
  );
  const from = Math.max(0, Math.min(caretRow - rows + 1, out.length - rows));
  return out
    .slice(from, from + rows)
    .map(({ line }, index) => [say(index === 0 && from === 0 ? '› ' : '  ', 'accent'), ...line]);
}
