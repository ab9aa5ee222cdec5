import { argumentsText } from '../../src/view/asked-arguments.ts';
import { escapeText, type Glyphs, type SafeText } from '../../src/view/escape.ts';
import { plural, wrapWords } from '../../src/view/format.ts';
import { type Line, type Span, foreign, say, shown } from '../../src/view/line.ts';
import { ruleJson, ruleKinds, ruleMatches, ruleReach, ruleSubject, ruleTarget } from '../../src/view/rule-lines.ts';
import { columnsOf, cutLine, wrapLine } from '../../src/view/wrap.ts';
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
  [say('Edit the arguments', 'text', ['bold'])],
  ...textRows(mode.editing, inner - 2, 200, glyphs),
];

/** What would run if it is said now: the call that the model had asked for is none of it. */
export const editedRows = (
  { args, why }: Extract<CardMode, { at: 'run-edited' }>,
  inner: number,
  glyphs: Glyphs,
): readonly Line[] => [
  [say('The arguments as you edited them', 'text', ['bold'])],
  ...argumentsText({ args })
    .trimEnd()
    .split('\n')
    .flatMap((text) => exactRows(text, inner, glyphs)),
  ...(why === '' ? [] : [[], ...wrapLine(foreign(why, glyphs, 'dim'), inner)]),
];

const kindColumns = Math.max(...Object.values(ruleKinds).map((words) => words.length));

/** A line of a document as it will be written: broken, but nothing of it left out. */
const exactRows = (text: string, inner: number, glyphs: Glyphs): readonly Line[] =>
  wrapWords(escapeText(text, { mode: 'line', glyphs, exact: true }), Math.max(4, inner - 4), columnsOf).map(
    (piece, index) => [
      say(index === 0 ? '  ' : '    '),
      // A part of a safe text is safe.
      ...shown(piece as SafeText, glyphs),
    ],
  );

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
    [say(`Add a rule · ${mode.chosen + 1} of ${plural(proposals.candidates.length, 'candidate')}`, 'text', ['bold'])],
    ...proposals.candidates.map((one, index) => {
      const kind = say(
        `${index === mode.chosen ? '> ' : '  '}${ruleKinds[one.kind].padEnd(kindColumns)}`,
        index === mode.chosen ? 'accent' : 'text',
      );
      return cutLine([kind, say('  '), ...foreign(ruleSubject(one), glyphs, 'dim')], inner);
    }),
    [],
    ...ruleJson(chosen).flatMap((text) => exactRows(text, inner, glyphs)),
    [],
    ...indented(ruleReach(chosen, proposals)),
    ...ruleTarget(proposals).flatMap(indented),
    ...(mode.matches
      ? ruleMatches(chosen).flatMap((text) => wrapLine(foreign(`- ${text}`, glyphs, 'dim'), inner, [say('  ')]))
      : []),
  ];
}
