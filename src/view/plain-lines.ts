import { imageWords } from './image-words.ts';
import { decidedBy } from './decided-by.ts';
import { exitOf, readable } from './call-lines.ts';
import { callName, callSummary, firstLine } from './call-summary.ts';
import { escapeText, type Glyphs, type SafeText } from './escape.ts';
import { countLines, formatSpan, plural } from './format.ts';
import type { CallItem, Item } from './items.ts';
import { say, textOf } from './line.ts';
import { toldMarkdown } from './markdown.ts';
import { sendAgain } from './transcript-notes.ts';
import { whatOf } from './what-of.ts';
import { expandTabs, wrapLine } from './wrap.ts';

/** Most lines of a tool's output where everything is printed for good. */
const mostOutput = 200;

/** Where lines are printed. */
export type PlainLook = {
  readonly glyphs: Glyphs;
  /** Columns of the terminal; null where nothing breaks a line. */
  readonly columns: number | null;
  /** Read aloud: no signs, every line with the same label (10 §10.2). */
  readonly spoken: boolean;
};
export const plainLook: PlainLook = { glyphs: 'unicode', columns: null, spoken: false };

/**
 * An item as lines that can be appended to any terminal (10 §10.1). Each line begins with a label, so that content cannot
 * pose as something else; foreign text has been made visible.
 * @param think with the reasoning
 */
export function plainLines(item: Item, think: boolean, look: PlainLook = plainLook): readonly string[] {
  switch (item.kind) {
    case 'user':
      return labelled('you: ', [item.text, ...(item.images ?? []).map(imageWords)].join('\n'), look);
    case 'assistant':
      return [
        ...answerLines(item.text.replace(/\n+$/, ''), look),
        ...(item.state === 'partial' ? ['note: partial; this is what arrived'] : []),
      ];
    case 'reasoning':
      return think ? labelled('think: ', item.text, look) : [];
    case 'call':
      return [...labelled('tool: ', callLine(item), look), ...outputLines(item, look)];
    case 'ask':
      return labelled(
        'ask: ',
        `${callName(item)} ${firstLine(whatOf(item))} - ${item.verdict?.verdict ?? 'open'}`,
        look,
      );
    case 'notice':
      return labelled(
        item.level === 'error' ? 'error: ' : item.level === 'warn' ? 'warning: ' : 'note: ',
        item.text,
        look,
      );
    case 'end':
      return [
        ...labelled(
          item.status === 'failed' ? 'error: ' : 'note: ',
          `${item.status}${item.class === item.status ? ':' : ` (${item.class})`} ${item.text}`,
          look,
        ),
        ...(item.fix === null ? [] : labelled('note: ', item.fix === sendAgain.key ? sendAgain.line : item.fix, look)),
      ];
  }
}

/** A text of the assistant, or a piece of it that ends at a line end. @param goesOn lines of it were printed before */
export function answerLines(text: string, look: PlainLook, goesOn = false): readonly string[] {
  const further = look.spoken ? 'reins: ' : goesOnMark;
  return rowsOf(goesOn ? further : 'reins: ', look.spoken ? toldMarkdown(text) : text, look, further);
}

/**
 * Every line with its label, without the line ends behind the last one. A line that is longer than the terminal is broken here: left to the terminal, what comes behind the edge would stand in the first column and could
 * pose as a label.
 */
export const labelled = (label: string, text: string, look: PlainLook): readonly string[] =>
  rowsOf(label, text.replace(/\n+$/, ''), look, label);

const rowsOf = (label: string, text: string, look: PlainLook, further: string): readonly string[] =>
  escapeText(text, { mode: 'prose', glyphs: look.glyphs })
    .split('\n')
    // An empty line is a pause for the eye alone.
    .filter((line) => !look.spoken || line.trim() !== '')
    // A part of a safe text is safe.
    .flatMap((line, index) => {
      const first = index === 0 ? label : further;
      return labelledRows(first, line as SafeText, look, look.spoken ? `${first}more: ` : goesOnMark);
    });

/** Before what a line goes on with: under its label again, a part of it could be read as another line. */
const goesOnMark = '     | ';

/** One line of safe text with its label, and another one where it has to go on. @param further differs from every label */
export function labelledRows(
  label: string,
  line: SafeText,
  { columns }: Pick<PlainLook, 'columns'>,
  further: string,
): readonly string[] {
  if (columns === null) return [`${label}${line}`.trimEnd()];
  // Blanks in place of tabs leave a safe text safe.
  const span = { text: expandTabs(line) as SafeText };
  const rows = wrapLine([span], Math.max(columns - 1, leastColumns), [say(label)], [say(further)]);
  return rows.map((row) => textOf(row).trimEnd());
}

/** A label and some words have room, however narrow the terminal says it is. */
const leastColumns = 12;

/** `local_fs.read_file src/a.ts - allowed rule 3 - ok, 96 lines`; what the operator ran is `$ ls -l - …`. */
function callLine(item: CallItem): string {
  const name = item.line === true ? '$' : callName(item);
  const { decision, verdict } = item;
  const by = decision === null ? '' : decidedBy(decision);
  const decided =
    verdict !== null
      ? `asked, ${verdict.verdict} by ${verdict.by}`
      : decision === null
        ? null
        : by === 'remembered'
          ? by
          : `${{ allow: 'allowed', approve: 'asks', deny: 'denied' }[decision.action]} ${by}`;
  const took = item.ms === null ? '' : `, ${formatSpan(item.ms)}`;
  const size = item.result === null ? '' : `, ${plural(countLines(readable(item)), 'line')}`;
  const result =
    item.state === 'ok'
      ? `${exitOf(item) ?? 'ok'}${size}${took}`
      : item.state === 'failed'
        ? `error ${item.error ?? ''}${took}`
        : item.state;
  return [`${name} ${callSummary(item.args)}`.trimEnd(), ...(decided === null ? [] : [decided]), result].join(' - ');
}

function outputLines(item: CallItem, look: PlainLook): readonly string[] {
  if (item.tools !== 'local_shell' && item.state !== 'failed') return [];
  const text = readable(item);
  if (text.trim() === '') return [];
  const lines = labelled('out: ', text, look);
  return lines.length <= mostOutput
    ? lines
    : [...lines.slice(0, mostOutput), `note: ${lines.length - mostOutput} more lines of output`];
}

/** The items of the last `turns` turns; a turn begins with a message of the operator. */
export function lastTurns(items: readonly Item[], turns: number): readonly Item[] {
  let left = turns;
  for (let index = items.length - 1; index >= 0; index -= 1) {
    if (items[index]?.kind === 'user') left -= 1;
    if (left === 0) return items.slice(index);
  }
  return items;
}
