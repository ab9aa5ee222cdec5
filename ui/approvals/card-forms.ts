import type { Glyphs } from '../../src/view/escape.ts';
import { type Line, type Span, foreign, say } from '../../src/view/line.ts';
import { ruleKinds, ruleMatches, ruleReach, ruleTarget } from '../../src/view/rule-lines.ts';
import { columnsOf, wrapLine } from '../../src/view/wrap.ts';
import { layOut } from '../composer/visual-lines.ts';
import type { CardMode } from './card-state.ts';

/** The rows of an edited text around its caret. */
export function textRows(
  editing: Extract<CardMode, { at: 'field' | 'edit' }>['editing'],
  columns: number,
  most: number,
  glyphs: Glyphs,
): readonly Line[] {
  const { lines, row } = layOut(editing, columns, columnsOf, glyphs);
  const from = Math.max(0, Math.min(row - most + 1, lines.length - most));
  return lines.slice(from, from + most).map((line, index): Line => {
    const spans: Span[] = line.cells.map(({ shown: text, at }) =>
      from + index === row && at === editing.caret ? { text, caret: true } : { text },
    );
    if (from + index !== row || line.cells.some(({ at }) => at >= editing.caret)) return spans;
    return [...spans, { ...say(' '), caret: true }];
  });
}

export const editRows = (mode: Extract<CardMode, { at: 'edit' }>, inner: number, glyphs: Glyphs): readonly Line[] => [
  [say('edit the arguments', 'text', ['bold'])],
  ...textRows(mode.editing, inner - 2, 200, glyphs),
];

export function ruleRows(mode: Extract<CardMode, { at: 'rule' }>, inner: number, glyphs: Glyphs): readonly Line[] {
  const { proposals } = mode;
  if (proposals === null) return [[say('looking for rules…', 'dim')]];
  const chosen = proposals.candidates[mode.chosen];
  if (chosen === undefined)
    return wrapLine(
      foreign(`no rule can be added: ${proposals.none ?? 'none would let only this through'}`, glyphs, 'warn'),
      inner,
    );
  const indented = (text: string) => wrapLine(foreign(text, glyphs), inner, [say('  ')]);
  return [
    [say(`add a rule · ${mode.chosen + 1} of ${proposals.candidates.length}`, 'text', ['bold'])],
    ...proposals.candidates.map(
      (one, index): Line => [
        say(`${index === mode.chosen ? '> ' : '  '}${ruleKinds[one.kind]}`, index === mode.chosen ? 'accent' : 'text'),
      ],
    ),
    [],
    ...indented(JSON.stringify(chosen.rule)),
    ...indented(ruleReach(chosen, proposals)),
    ...ruleTarget(proposals).flatMap(indented),
    ...(mode.matches
      ? ruleMatches(chosen).flatMap((text) => wrapLine(foreign(`- ${text}`, glyphs, 'dim'), inner, [say('  ')]))
      : []),
  ];
}
