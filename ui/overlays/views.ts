import type { Glyphs } from '../../src/view/escape.ts';
import { foreign, say } from '../../src/view/line.ts';
import { wrapLine } from '../../src/view/wrap.ts';
import { type KeyMap, keyOf } from '../keys/key-map.ts';
import { layoutOf } from '../layout.ts';
import type { State } from '../state.ts';
import { definitionBody, definitionHead } from './definition-view.ts';
import { helpView } from './help-view.ts';
import { grantsView, modelsView, paletteView, plansView, runsView, sessionsView } from './list-views.ts';
import type { Overlay, TextOverlay } from './overlay.ts';
import { fieldLines, type FootKeys, footKeys, moveKeys, type OverlayView, plainView } from './overlay-view.ts';
import { runView } from './run-view.ts';
import { findHits, findPlace, hasFlags, textLines } from './text-overlay.ts';
import { trustBody, trustHead, trustTitle } from './trust-view.ts';
import { whyBelow, whyBody, whyHead } from './why-view.ts';

/** @param columns inside of the borders */
export function viewOf(overlay: Overlay, state: State, columns: number): OverlayView {
  const { glyphs } = state;
  switch (overlay.kind) {
    case 'help':
      return helpView(overlay, state, columns);
    case 'palette':
      return paletteView(overlay, state, columns);
    case 'sessions':
      return sessionsView(overlay, state, columns);
    case 'plans':
      return plansView(overlay, state, columns);
    case 'models':
      return modelsView(overlay, state, columns);
    case 'runs':
      return runsView(overlay, state, columns);
    case 'grants':
      return grantsView(overlay, state, columns);
    case 'run':
      return runView(overlay, state, columns);
    case 'why': {
      const { body } = layoutOf(state);
      const { name, sha256, path } = overlay.explanation.record.policy;
      const where = columns < 100 || path === null ? '' : ` · ${path}`;
      return {
        title: overlay.title,
        right: foreign(`policy ${name} ${sha256?.slice(0, 8) ?? ''}${where}`, glyphs, 'dim'),
        head: whyHead(overlay, { columns, glyphs }, body),
        body: whyBody(overlay, { columns, glyphs }),
        at: overlay.at,
        chosen: overlay.explanation.tried.length > 0,
        below: whyBelow(overlay, { columns, glyphs }, body),
        foot: [
          ...moveKeys(state.keys, 'rules'),
          ...footKeys(state.keys, [
            ['overlay.accept', 'rule JSON'],
            ['why.copy', 'copy'],
            ['overlay.close', 'close'],
          ]),
        ],
      };
    }
    case 'explain':
    case 'view': {
      const hits = findHits(overlay);
      return {
        ...plainView,
        title: overlay.title,
        right: findPlace(overlay, hits),
        head: findLines(overlay, glyphs),
        body: textLines(overlay, { columns, glyphs }),
        at: overlay.at,
        foot: textFoot(overlay, state.keys, hits.length),
        scrolls: pageKeys(state.keys),
      };
    }
    case 'trust':
      return {
        ...plainView,
        title: trustTitle(overlay),
        right: overlay.waiting.length === 0 ? [] : [say(`${overlay.waiting.length} more`, 'dim')],
        head: trustHead(overlay, columns, glyphs),
        body: trustBody(overlay.content, columns, glyphs),
        at: overlay.at,
        foot: footKeys(state.keys, [
          ['card.trust', 'trust'],
          ['card.trust-once', 'use once'],
          ['card.refuse', 'refuse'],
          ['overlay.page-down', 'more'],
          ['overlay.close', 'refuse'],
        ]),
        scrolls: moreKeys(state.keys),
      };
    case 'definition':
      return {
        ...plainView,
        title: overlay.held.change === 'program' ? 'Accept this program?' : 'Accept this tool definition?',
        right: overlay.waiting.length === 0 ? [] : [say(`${overlay.waiting.length} more`, 'dim')],
        head: definitionHead(overlay, columns, glyphs),
        body: definitionBody(overlay.held, columns, glyphs),
        at: overlay.at,
        foot: footKeys(state.keys, [
          ['card.accept', 'accept'],
          ['card.keep-out', 'keep it out'],
          ['overlay.page-down', 'more'],
          ['overlay.close', 'later'],
        ]),
        scrolls: moreKeys(state.keys),
      };
    case 'question':
      return {
        ...plainView,
        title: overlay.title,
        body: overlay.lines.flatMap((line) => wrapLine(foreign(line, glyphs), columns)),
        at: 0,
        foot: [...overlay.choices.map(({ key, words }) => `${key} ${words}`), 'Esc back'],
      };
  }
}

const pageKeys = (keys: KeyMap): readonly string[] => moveKeys(keys, `${keyOf(keys, 'view.page') ?? ''} page`.trim());
const moreKeys = (keys: KeyMap): readonly string[] => footKeys(keys, [['overlay.page-down', 'more']]);

/** The keys that do something in this text. Where all of it is in view there is nowhere to go. */
function textFoot(overlay: TextOverlay, keys: KeyMap, count: number): readonly string[] {
  const { find } = overlay;
  if (find?.typing === true)
    return [
      ...(count > 1 ? moveKeys(keys, 'hits') : []),
      ...footKeys(keys, [
        ['field.accept', 'keep'],
        ['field.close', 'no search'],
      ]),
    ];
  const hits: FootKeys =
    find !== undefined && count > 1
      ? [
          ['view.next-hit', 'next'],
          ['view.previous-hit', 'previous'],
        ]
      : [];
  return [
    ...pageKeys(keys),
    ...footKeys(keys, [
      ...hits,
      ['overlay.filter', 'find'],
      ...(hasFlags(overlay) ? ([['view.next-flag', 'next flag']] as const) : []),
      ['view.wrap', 'wrap'],
      ['view.copy', 'copy'],
      ['overlay.close', 'close'],
    ]),
  ];
}

const findLines = ({ find }: TextOverlay, glyphs: Glyphs) =>
  find?.typing === true ? fieldLines({ label: 'find', purpose: 'find', editing: find.editing }, '', glyphs) : [];
