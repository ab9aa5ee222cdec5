import { imageWords } from './image-words.ts';
import { callLines } from './call-lines.ts';
import { estimateTokens } from '../text/tokens.ts';
import { formatRemaining, formatSpan, plural } from './format.ts';
import type { Item } from './items.ts';
import { foreign, type Line, say } from './line.ts';
import { whatOf } from './what-of.ts';
import { type ItemLook, indent, moreLine, proseRows, signs, wrapped } from './rows.ts';

/** The rows of an item, without the empty one that may stand before it. Columns 1 and 2 hold nothing foreign. */
export function itemLines(item: Item, look: ItemLook): readonly Line[] {
  switch (item.kind) {
    case 'user':
      return userLines(item, look);
    case 'assistant':
      return [
        ...look.markdown(item.id, item.text, look.columns - 2).map((line) => [...indent, ...line]),
        ...(item.state === 'partial' || item.state === 'failed'
          ? [
              [
                say('- ', 'dim'),
                say(item.state === 'partial' ? 'partial: this is what arrived' : 'it failed here', 'dim'),
              ],
            ]
          : []),
      ];
    case 'reasoning':
      return reasoningLines(item, look);
    case 'call':
      return callLines(item, look);
    case 'ask': {
      const verdict = item.verdict === null ? 'waits for an answer' : `${item.verdict.verdict} by ${item.verdict.by}`;
      return wrapped(
        [
          ...foreign(`${item.tools}.${item.tool} ${whatOf(item)}`, look.glyphs),
          say(' · ', 'dim'),
          ...foreign(verdict, look.glyphs, 'ask'),
        ],
        '? ',
        'ask',
        look,
      );
    }
    case 'notice': {
      const bad = item.level === 'error';
      return wrapped(
        foreign(item.text, look.glyphs, bad ? 'danger' : 'dim', 'prose'),
        bad ? '! ' : '- ',
        bad ? 'danger' : 'dim',
        look,
      );
    }
    case 'end':
      return endLines(item, look);
  }
}

/** Messages of the operator are longer than this only when they are opened. */
const longMessage = 20;
const shownOfLong = 10;

function userLines(item: Extract<Item, { kind: 'user' }>, look: ItemLook): readonly Line[] {
  const all = proseRows(item.text, look.columns, look.glyphs, item.state === 'pending' ? 'dim' : undefined);
  const most = look.opened || all.length <= longMessage ? all.length : shownOfLong;
  return [
    ...all
      .slice(0, most)
      .map((line, index): Line => [say(index === 0 ? `${signs[look.glyphs].user} ` : '  ', 'accent'), ...line]),
    ...moreLine(all.length - most, look),
    ...(item.images ?? []).map((image): Line => [...indent, ...foreign(imageWords(image), look.glyphs, 'dim')]),
  ];
}

function reasoningLines(item: Extract<Item, { kind: 'reasoning' }>, look: ItemLook): readonly Line[] {
  const sign = look.opened ? '' : '  +';
  const title: Line = [say('~ ', 'dim'), say(`${thoughtWords(item, look.now)}${sign}`, 'dim')];
  if (!look.opened) return [title];
  return [
    title,
    ...proseRows(item.text, look.columns, look.glyphs, 'dim')
      .slice(-2000)
      .map((line): Line => [...indent, ...line]),
  ];
}

/** `thinking 00:04`, then `thought for 4.1s · 212 tokens`; what the provider does not count is estimated. */
function thoughtWords(item: Extract<Item, { kind: 'reasoning' }>, now: number): string {
  if (item.state === 'streaming')
    return `thinking ${formatRemaining(item.started_at === null ? 1 : Math.max(1, now - Date.parse(item.started_at)))}`;
  const took = item.ms === null ? '' : ` for ${formatSpan(item.ms)}`;
  const count = item.tokens ?? estimateTokens(item.text);
  return `thought${took} · ${item.tokens === undefined ? '~' : ''}${plural(count, 'token')}`;
}

function endLines(item: Extract<Item, { kind: 'end' }>, look: ItemLook): readonly Line[] {
  const fix = item.fix === null ? [] : wrapped(foreign(item.fix, look.glyphs, 'dim'), '  ', undefined, look);
  if (item.status === 'failed' || item.status === 'exhausted')
    return [
      ...wrapped(foreign(`failed (${item.class}): ${item.text}`, look.glyphs, 'danger', 'prose'), '! ', 'danger', look),
      ...fix,
    ];
  const words = item.status === 'cancelled' ? item.status : `${item.status}:`;
  return [...wrapped(foreign(`${words} ${item.text}`, look.glyphs, 'dim'), '- ', 'dim', look), ...fix];
}
