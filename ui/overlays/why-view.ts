import type { Evaluation } from '../../src/schema/policy.ts';
import type { PolicyExplanation, TriedRule } from '../../src/schema/policy-views.ts';
import { explanationLines, readingLines, triedText, verdictLine, verdictText } from '../../src/view/explanation.ts';
import { foreign, type Line, say, type Token } from '../../src/view/line.ts';
import { columnsOf, cutLine, fitLine, wrapLine } from '../../src/view/wrap.ts';
import type { Overlay, TextOverlay } from './overlay.ts';
import type { TextPlace } from './text-overlay.ts';

export type WhyOverlay = Extract<Overlay, { kind: 'why' }>;

/** A rule of the document, as far as this program reads it. */
type Rule = { readonly tools?: unknown; readonly tool?: unknown; readonly action?: unknown };

/**
 * The row of the rule that decided, which is the one that is asked about; else the last one that was tried.
 * @param about the ask that it is about, and what the policy says of it by now
 */
export function whyOverlay(
  title: string,
  explanation: PolicyExplanation,
  rules: readonly unknown[] | null,
  about: { readonly now: Evaluation | null; readonly ask: string } | null = null,
): WhyOverlay {
  const { record } = explanation;
  const now = about?.now ?? null;
  const byNow = now === null || verdictLine(now) === verdictLine(record) ? null : verdictLine(now);
  const at = explanation.tried.findIndex(({ rule }) => rule === explanation.record.matched_rule);
  return {
    kind: 'why',
    title,
    explanation,
    rules,
    byNow,
    ask: about?.ask ?? null,
    at: at < 0 ? Math.max(0, explanation.tried.length - 1) : at,
  };
}

/** The rules of a document that is the one of the record. */
export function rulesOf(text: string): readonly unknown[] | null {
  try {
    const read: unknown = JSON.parse(text);
    const rules: unknown = typeof read === 'object' && read !== null ? Reflect.get(read, 'rules') : null;
    return Array.isArray(rules) ? rules : null;
  } catch {
    return null;
  }
}

const ruleAt = ({ rules }: WhyOverlay, index: number): Rule => {
  const rule = rules?.[index];
  return typeof rule === 'object' && rule !== null ? rule : {};
};
const word = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Where the body has fewer rows, each part of the head has one, and the lesser ones give way to the rules. */
const roomyBody = 14;

/** The call and the verdict, which stay in view: what it is about to do, and why it is asked. */
export function whyHead(overlay: WhyOverlay, place: TextPlace, body: number): readonly Line[] {
  const { columns, glyphs } = place;
  const { call, record, wait_s, tried, refused } = overlay.explanation;
  const { detail, note } = record;
  const verdict = refused === null ? verdictText(record, overlay.rules?.length ?? null, wait_s) : `refused: ${refused}`;
  const roomy = body >= roomyBody;
  const two = (text: string, token?: Token, always = false): readonly Line[] =>
    roomy || always
      ? wrapLine(foreign(text, glyphs, token), columns, [], [say('  ')])
          .slice(0, 2)
          .map((line) => cutLine(line, columns))
      : [cutLine(foreign(text, glyphs, token), columns)];
  return [
    ...two(`${call.tools}/${call.tool} ${JSON.stringify(call.args)}`, undefined, true),
    ...two(`→ ${verdict}`, record.action === 'allow' ? 'ok' : record.action === 'deny' ? 'danger' : 'ask'),
    ...(overlay.byNow === null ? [] : two(`by now: ${overlay.byNow}`, 'warn')),
    ...(detail === null ? [] : two(`  ${detail}`)),
    ...(note === null || !roomy ? [] : two(`  for ${note}`)),
    ...(tried.length === 0 || !roomy
      ? []
      : [tableRow(overlay, place, ['rule', 'tools', 'action', 'result'], false, 'dim')]),
  ];
}

/** One row for each rule that was tried. */
export function whyBody(overlay: WhyOverlay, place: TextPlace): readonly Line[] {
  const { tried } = overlay.explanation;
  if (tried.length === 0) return [[say('No rule was tried.')]];
  return tried.map((each, index) => {
    const { tools, tool, action } = ruleAt(overlay, each.rule);
    const cells = [String(each.rule + 1), toolOf(tools, tool), word(action), resultOf(each)] as const;
    return tableRow(overlay, place, cells, index === overlay.at, undefined);
  });
}

const toolOf = (tools: unknown, tool: unknown): string => `${word(tools) || '*'}.${word(tool) || '*'}`;
const verdicts: ReadonlySet<string> = new Set(['allow', 'approve', 'deny']);
/** A rule that decided is marked with what it said. */
const resultOf = (each: TriedRule): string =>
  `${verdicts.has(each.outcome) ? 'yes' : each.outcome}: ${triedText(each)}`;

/** With fewer, the result needs the room of the tools, which are those of the call anyway. */
const tableColumns = 70;

/** Rule, tools, action and result in columns; without the document only rule and result are known. */
function tableRow(
  overlay: WhyOverlay,
  { columns, glyphs }: TextPlace,
  [rule, tools, action, result]: readonly [string, string, string, string],
  isChosen: boolean,
  token: Token | undefined,
): Line {
  const known = overlay.rules !== null && columns >= tableColumns;
  const width = known ? toolsWidth(overlay) : 0;
  return cutLine(
    [
      say(isChosen ? '> ' : '  ', 'accent'),
      ...foreign(`${rule.padStart(4)}  `, glyphs, token),
      ...(known
        ? [...fitLine(foreign(tools, glyphs, token), width), ...foreign(`  ${action.padEnd(7)}  `, glyphs, token)]
        : []),
      ...foreign(result, glyphs, token ?? (isChosen ? 'accent' : undefined)),
    ],
    columns,
  );
}

const toolsWidth = (overlay: WhyOverlay): number =>
  Math.min(
    24,
    Math.max(
      5,
      ...overlay.explanation.tried.map(({ rule }) => {
        const { tools, tool } = ruleAt(overlay, rule);
        return columnsOf(toolOf(tools, tool));
      }),
    ),
  );

const mostBelow = 5;

/** How a command was read, and what would change the verdict; it stays below the rules. */
export function whyBelow({ explanation }: WhyOverlay, { columns, glyphs }: TextPlace, body: number): readonly Line[] {
  if (body < roomyBody) return [];
  const { would_change_with: change } = explanation;
  const reading = readingLines(explanation).flatMap((line) =>
    wrapLine(foreign(line, glyphs), columns, [], [say('     ')]).slice(0, 2),
  );
  const end =
    change === null ? [] : wrapLine(foreign(`would change with: ${change}`, glyphs), columns, [], [say('  ')]);
  return [...reading.slice(0, mostBelow - Math.min(2, end.length)), ...end.slice(0, 2)].map((line) =>
    cutLine(line, columns),
  );
}

/** The chosen rule whole: its text, and what each of its conditions found. */
export function ruleView(overlay: WhyOverlay): TextOverlay | null {
  const each = overlay.explanation.tried[overlay.at];
  if (each === undefined) return null;
  const rule = overlay.rules?.[each.rule];
  const text = rule === undefined ? '(the document of that time is not the one in use)' : JSON.stringify(rule, null, 2);
  return {
    kind: 'view',
    title: `Rule ${each.rule + 1}`,
    at: 0,
    lines: [...text.split('\n'), '', resultOf(each), ...(each.note === null ? [] : [each.note])],
  };
}

export const whyText = ({ explanation, byNow }: WhyOverlay): string =>
  [...(byNow === null ? [] : [`by now: ${byNow}`]), ...explanationLines(explanation)].join('\n');
