import { readable } from './call-lines.ts';
import { callSummary } from './call-summary.ts';
import { escapeText } from './escape.ts';
import { formatSpan, plural } from './format.ts';
import type { CallItem, Item } from './items.ts';

/** Most lines of a tool's output where everything is printed for good. */
const mostOutput = 200;

/**
 * An item as lines that can be appended to any terminal (10 §10.1). Each line begins with a label, so that content cannot
 * pose as something else; foreign text has been made visible.
 * @param think with the reasoning
 */
export function plainLines(item: Item, think: boolean): readonly string[] {
  switch (item.kind) {
    case 'user':
      return labelled('you: ', item.text);
    case 'assistant':
      return [
        ...labelled('reins: ', item.text, '     | '),
        ...(item.state === 'partial' ? ['note: interrupted; this is what arrived'] : []),
      ];
    case 'reasoning':
      return think ? labelled('think: ', item.text) : [];
    case 'call':
      return [...labelled('tool: ', callLine(item)), ...outputLines(item)];
    case 'ask':
      return labelled('ask: ', `${item.tools}.${item.tool} ${item.summary} - ${item.verdict?.verdict ?? 'open'}`);
    case 'notice':
      return labelled(item.level === 'error' ? 'error: ' : item.level === 'warn' ? 'warning: ' : 'note: ', item.text);
    case 'end':
      return [
        ...labelled(item.status === 'failed' ? 'error: ' : 'note: ', `${item.status} (${item.class}) ${item.text}`),
        ...(item.fix === null ? [] : labelled('note: ', item.fix)),
      ];
    case 'shell':
      return [...labelled('tool: ', `$ ${item.line}`), ...labelled('out: ', item.output)];
  }
}

/** Every line with its label; the lines of one text may have another one from the second on. */
export function labelled(label: string, text: string, further = label): readonly string[] {
  const lines = escapeText(text.replace(/\n+$/, ''), { mode: 'prose' }).split('\n');
  return lines.map((line, index) => `${index === 0 ? label : further}${line}`.trimEnd());
}

/** `local_fs.read_file src/a.ts - allowed rule 3 - ok, 96 lines`. */
export function callLine(item: CallItem): string {
  const name = item.tools === '' ? item.tool : `${item.tools}.${item.tool}`;
  const { decision, verdict } = item;
  const rule = decision === null ? '' : decision.rule === null ? decision.reason : `rule ${decision.rule + 1}`;
  const decided =
    verdict !== null
      ? `asked, ${verdict.verdict} by ${verdict.by}`
      : decision === null
        ? null
        : `${{ allow: 'allowed', approve: 'asks', deny: 'denied' }[decision.action]} ${rule}`;
  const took = item.ms === null ? '' : `, ${formatSpan(item.ms)}`;
  const size = item.result === null ? '' : `, ${plural(readable(item).split('\n').length, 'line')}`;
  const result =
    item.state === 'ok'
      ? `ok${size}${took}`
      : item.state === 'failed'
        ? `error ${item.error ?? ''}${took}`
        : item.state;
  return [`${name} ${callSummary(item.args)}`.trimEnd(), ...(decided === null ? [] : [decided]), result].join(' - ');
}

function outputLines(item: CallItem): readonly string[] {
  if (item.tools !== 'local_shell' && item.state !== 'failed') return [];
  const text = readable(item);
  if (text.trim() === '') return [];
  const lines = labelled('out: ', text);
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
