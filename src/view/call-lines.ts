import { decidedBy } from './decided-by.ts';
import { callName, callSummary } from './call-summary.ts';
import { countLines, formatSpan, plural } from './format.ts';
import type { CallItem } from './items.ts';
import { foreign, type Line, say, type Token } from './line.ts';
import { foreignRows, type ItemLook, proseRows, signs } from './rows.ts';
import { lineColumns, spread, wrapLine } from './wrap.ts';

/** Lines of a diff that are shown before it is collapsed. */
const shownDiff = 12;

/** A tool call: what it was, what was decided, what became of it (10 §5.1). */
export function callLines(item: CallItem, look: ItemLook): readonly Line[] {
  const bad = item.state === 'denied' || item.state === 'failed';
  const summary = callSummary(item.args);
  const mark = (sign: string, token: Token) => (bad ? say('! ', 'danger') : say(`${sign} `, token));
  const left: Line =
    item.line === true
      ? [mark('$', 'accent'), ...foreign(summary, look.glyphs)]
      : [
          mark(signs[look.glyphs].call, 'tool'),
          ...foreign(callName(item), look.glyphs, bad ? 'danger' : 'tool'),
          ...(summary === '' ? [] : [say('  '), ...foreign(summary, look.glyphs)]),
        ];
  const right = outcome(item, look);
  // What was decided is never hidden by a long command: it takes a row of its own.
  const fits = lineColumns(left) + lineColumns(right) + 2 <= look.columns;
  const head = fits
    ? [spread(left, right, look.columns)]
    : [
        ...wrapLine(left, look.columns, [], [say('  ')]).slice(0, 3),
        ...wrapLine(right, look.columns, [say('    ')]).slice(0, 2),
      ];
  return [...head, ...(look.opened ? openedLines(item, look) : closedLines(item, look))];
}

function outcome(item: CallItem, look: ItemLook): Line {
  const parts: Line[] = [];
  const decided = decisionWords(item, look);
  if (decided !== null) parts.push([decided]);
  const result = resultWords(item, look);
  if (result !== null) parts.push(...result);
  const sign = look.opened ? '  -' : canOpen(item) ? '  +' : '';
  return [...parts.flatMap((part, index) => (index === 0 ? part : [say(' · ', 'dim'), ...part])), say(sign, 'dim')];
}

const canOpen = (item: CallItem): boolean => item.result !== null || item.args !== null;

function decisionWords(item: CallItem, look: ItemLook): Line[number] | null {
  const { decision, verdict } = item;
  if (verdict !== null) {
    const at = new Date(verdict.at).toTimeString().slice(0, 5);
    const token: Token = verdict.verdict === 'approved' ? 'ok' : 'danger';
    return foreign(`asked, ${verdict.verdict} by ${verdict.by} ${at}`, look.glyphs, token)[0] ?? null;
  }
  if (decision === null) return null;
  const by = decidedBy(decision);
  if (decision.action === 'allow')
    return foreign(by === 'remembered' ? by : `allowed ${by}`, look.glyphs, 'ok')[0] ?? null;
  if (decision.action === 'deny') return foreign(`denied ${by}`, look.glyphs, 'danger')[0] ?? null;
  return foreign(item.ask_id === null ? `asks ${by}` : 'waiting for an answer', look.glyphs, 'ask')[0] ?? null;
}

function resultWords(item: CallItem, look: ItemLook): readonly Line[] | null {
  switch (item.state) {
    case 'pending':
      return null;
    case 'denied':
      // Of a call that is not on record any more only the outcome is known.
      return item.decision === null && item.verdict === null ? [[say('denied', 'danger')]] : null;
    case 'running': {
      const since = item.started_at === null ? 0 : Math.max(0, look.now - Date.parse(item.started_at));
      return [[say(since < 1000 ? 'running' : `running ${formatSpan(Math.floor(since / 1000) * 1000)}`, 'accent')]];
    }
    case 'failed':
      return [[...foreign(failureWord(item.error ?? ''), look.glyphs, 'danger')], ...took(item)];
    case 'ok':
      return [[...foreign(exitOf(item) ?? 'ok', look.glyphs)], ...size(item), ...took(item)];
  }
}

/** The outcome words of 10 §5.1 that are not the class of an error. */
const failureWords: ReadonlyMap<string, string> = new Map([
  ['timeout', 'timeout'],
  ['cancelled', 'interrupted'],
  ['interrupted', 'interrupted'],
  ['outcome_unknown', 'unknown'],
]);
const failureWord = (error: string): string => failureWords.get(error) ?? `error ${error}`.trim();

const took = (item: CallItem): readonly Line[] => (item.ms === null ? [] : [[say(formatSpan(item.ms))]]);

function size(item: CallItem): readonly Line[] {
  const text = readable(item);
  if (text === '') return [];
  const lines = countLines(text);
  return lines < 2 ? [] : [[say(plural(lines, 'line'))]];
}

/** The exit code of a program, where the result has one. */
export function exitOf({ result }: Pick<CallItem, 'result'>): string | null {
  const code = member(result, 'exit_code');
  return typeof code === 'number' ? `exit ${code}` : null;
}

function member(result: string | null, name: string): unknown {
  if (result === null || !result.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(result);
    return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  } catch {
    return undefined;
  }
}

/** What a person reads of a call. */
export const readable = (item: CallItem): string => (item.result === null ? item.output : readableResult(item.result));

/** What a person reads of a result: the text in it where it is wrapped in JSON. */
export function readableResult(result: string): string {
  for (const name of ['stdout', 'content', 'text', 'message', 'diff']) {
    const text = member(result, name);
    if (typeof text !== 'string' || text === '') continue;
    const more = name === 'stdout' ? member(result, 'stderr') : undefined;
    return typeof more === 'string' && more !== '' ? `${text}\n${more}` : text;
  }
  const errors = member(result, 'stderr');
  if (typeof errors === 'string' && errors !== '') return errors;
  // A program that printed nothing has nothing to show; what else is known of it stands in its head.
  return member(result, 'stdout') === '' ? '' : result;
}

function closedLines(item: CallItem, look: ItemLook): readonly Line[] {
  if (item.state === 'running' || (item.state === 'pending' && item.output !== ''))
    return foreignRows(item.output, look, look.collapse, 'last');
  // Why it was asked is no news once somebody has said no.
  if (item.state === 'denied' && item.decision?.action === 'deny' && item.decision.detail !== null)
    return proseRows(item.decision.detail, look.columns - 2, look.glyphs, 'dim').map(
      (line): Line => [say('    '), ...line],
    );
  if (item.state === 'denied' && item.diff === null) return [];
  if (item.diff !== null && item.state !== 'pending') return diffRows(item.diff, look, shownDiff);
  if (item.state === 'failed') return foreignRows(readable(item), look, Math.min(3, look.collapse), 'first');
  // What was read is for the model; what a command said is for both.
  return item.tools === 'local_shell' ? foreignRows(readable(item), look, look.collapse, 'first') : [];
}

/** A diff in the colours of its signs. */
function diffRows(diff: string, look: ItemLook, most: number): readonly Line[] {
  const lines = diff.replace(/\n$/, '').split('\n');
  const body = lines.filter((line, index) => !(index < 4 && /^(?:---|\+\+\+|Index|===)/.test(line)));
  const rows = body.slice(0, most).flatMap((line) => {
    const token: Token | undefined = line.startsWith('+') ? 'add' : line.startsWith('-') ? 'remove' : undefined;
    return wrapLine(foreign(line, look.glyphs, line.startsWith('@@') ? 'dim' : token, 'line'), look.columns, [
      say('  '),
    ]);
  });
  const hidden = body.length - most;
  return hidden <= 0 ? rows : [...rows, [say('  '), say(`${signs[look.glyphs].more} ${hidden} more lines`, 'dim')]];
}

function openedLines(item: CallItem, look: ItemLook): readonly Line[] {
  const { decision } = item;
  const labelled = (label: string, text: string): readonly Line[] => [
    [say('    '), say(label, 'dim')],
    ...proseRows(text, look.columns - 4, look.glyphs).map((line): Line => [say('      '), ...line]),
  ];
  const args = typeof item.args === 'string' ? item.args : JSON.stringify(item.args, null, 2);
  const why =
    decision === null
      ? []
      : labelled(
          'decision',
          `${decision.action} · ${decision.rule === null ? decision.reason.replaceAll('_', ' ') : `rule ${decision.rule + 1}`} of ${decision.policy}${decision.detail === null ? '' : ` · ${decision.detail}`}`,
        );
  return [
    ...labelled('arguments', args ?? ''),
    ...why,
    ...(item.diff === null ? [] : [[say('    '), say('diff', 'dim')], ...diffRows(item.diff, look, 500)]),
    ...(item.result === null && item.output === '' ? [] : [[say('    '), say('result', 'dim')]]),
    ...foreignRows(readable(item), { ...look, columns: look.columns - 2 }, 2000, 'first').map(
      (line): Line => [say('  '), ...line],
    ),
  ];
}
