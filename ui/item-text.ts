import { readable } from '../src/view/call-lines.ts';
import type { CallItem, Item } from '../src/view/items.ts';

/** The original text of an item, for the clipboard. */
export function textOfItem(item: Item): string {
  switch (item.kind) {
    case 'call':
      return `${item.tools}.${item.tool} ${JSON.stringify(item.args)}\n${readable(item)}`;
    case 'ask':
      return item.summary;
    default:
      return item.text;
  }
}

/** What a search looks at of an item: of a long one only the beginning. */
export const searchedText = (item: Item): string => textOfItem(item).slice(0, mostSearched);
const mostSearched = 65_536;

/** An item whole, as it came, for the full view. */
export const wholeItem = (item: Item): { readonly title: string; readonly lines: readonly string[] } =>
  item.kind === 'call'
    ? { title: `${item.tools}.${item.tool}`, lines: wholeCall(item) }
    : { title: titles[item.kind], lines: textOfItem(item).replace(/\n$/, '').split('\n') };

const titles: Readonly<Record<Exclude<Item['kind'], 'call'>, string>> = {
  user: 'Your message',
  assistant: 'Answer',
  reasoning: 'Reasoning',
  ask: 'Question',
  notice: 'Notice',
  end: 'End of a run',
};

function wholeCall(item: CallItem): readonly string[] {
  const part = (title: string, text: string): readonly string[] =>
    text === '' ? [] : ['', title, ...text.replace(/\n$/, '').split('\n')];
  const { decision, verdict } = item;
  const args = typeof item.args === 'string' ? item.args : (JSON.stringify(item.args, null, 2) ?? '');
  const rule = decision === null || decision.rule === null ? '' : `, rule ${decision.rule + 1}`;
  const decided =
    decision === null
      ? ''
      : `${decision.action}${rule} of ${decision.policy}${decision.detail === null ? '' : `: ${decision.detail}`}`;
  const answered = verdict === null ? '' : `${verdict.verdict} by ${verdict.by}`;
  return [
    ...part('Arguments', args),
    ...part('Decision', [decided, answered].filter((text) => text !== '').join('\n')),
    ...part('Diff', item.diff ?? ''),
    ...part('Result', readable(item)),
    // What the model got, where a person is shown only a part of it.
    ...(item.result === null || readable(item) === item.result ? [] : part('As the model got it', item.result)),
  ].slice(1);
}
