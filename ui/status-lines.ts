import { formatRemaining } from '../src/view/format.ts';
import { foreign, type Line, say, type Span, type Token } from '../src/view/line.ts';
import { cutLine, cutMiddle, lineColumns, spread } from '../src/view/wrap.ts';
import { wideColumns } from './plan/plan-state.ts';
import { activityOf, asksFirst, type Banner, type State } from './state.ts';

const join = (parts: readonly Line[]): Line =>
  parts.flatMap((part, index) => (index === 0 ? part : [say(' · ', 'dim'), ...part]));

/** `8.1k`, `1.2m`; whole below 1,000. */
export function shortCount(count: number): string {
  if (count < 1000) return String(count);
  const [value, unit] = count < 1_000_000 ? [count / 1000, 'k'] : [count / 1_000_000, 'm'];
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${unit}`;
}

/** `00:42`, `1h 05m`. */
export const clock = (ms: number): string => (ms < 1000 ? '00:00' : formatRemaining(ms));

export const bannerOf = (state: State): Banner | null =>
  state.banners.filter((each) => each.fixed || !state.dismissed.has(each.id)).sort((a, b) => a.rank - b.rank)[0] ??
  null;

export const bannerLine = (state: State): Line => {
  const banner = bannerOf(state);
  if (banner === null) return [];
  const { columns } = state.size;
  const mend: Line =
    banner.mend == null
      ? []
      : [say(' · ', 'danger'), ...foreign(banner.mend, state.glyphs, 'danger', 'line', ['bold'])];
  const text = cutLine(
    [say('! ', 'danger'), ...foreign(banner.text, state.glyphs, 'danger')],
    columns - lineColumns(mend),
  );
  return cutLine([...text, ...mend], columns);
};

export function tabBar(state: State): Line {
  const { facts, asks, session, plan, glyphs } = state;
  const tab = (name: string, open: boolean): Span =>
    open ? say(`[${name}]`, 'accent', ['bold']) : say(name, name.endsWith('!') ? 'ask' : undefined);
  // The pane of the plan has the plan's name at the right.
  const wide = state.size.columns >= 100;
  const [own, every] = [
    (state.pane === 'plan' ? plan.plan?.name : session?.name) ?? null,
    wide ? 'open asks of every run and process' : 'all runs',
  ];
  const name = state.pane === 'approvals' ? every : own;
  const gap = say(wide ? '  ' : ' ');
  const left: Line = [
    say(' reins', 'dim'),
    gap,
    tab('1 Chat', state.pane === 'chat'),
    gap,
    tab(planTab(state), state.pane === 'plan'),
    gap,
    tab(`3 Approvals${asks.length === 0 ? '' : ` ${asks.length}!`}`, state.pane === 'approvals'),
  ];
  const shell = facts.shell ? [[say('shell on', 'warn')]] : [];
  const right = (named: Line | null, ...before: readonly Line[]): Line =>
    join([...before, ...(named === null ? [] : [named]), ...shell]);
  const room = state.size.columns - lineColumns(left) - 2;
  const whole = name === null ? null : foreign(name, glyphs);
  // The directory gives way first, then the middle of the name.
  const fits = [right(whole, foreign(facts.cwd, glyphs, 'dim')), right(whole)].find(
    (line) => lineColumns(line) <= room,
  );
  const rest = room - lineColumns(right([]));
  const cut = whole === null || rest < leastName ? null : cutMiddle(whole, rest);
  return spread(left, fits ?? right(cut), state.size.columns);
}

/** Fewer columns of a name say nothing. */
const leastName = 8;

const planTab = ({ plan: { plan } }: State): string => (plan === null ? '2 Plan' : `2 Plan ${plan.done}/${plan.total}`);

type Field = {
  readonly line: Line;
  /** Instead of `line`, before it is left out. */
  readonly short?: Line;
  readonly drop: number;
  readonly right: boolean;
};
const never = Number.POSITIVE_INFINITY;

/** The state of everything, in one line (10 §3). */
export function statusLine(state: State): Line {
  const fields: Field[] = [
    { line: stateField(state), drop: never, right: false },
    ...elsewhereField(state),
    ...modelField(state),
    { line: policyField(state), drop: never, right: false },
    // What is remembered counts under the policy that it was said under.
    ...(state.editsIn?.session === state.session?.id &&
    state.editsIn?.policies.includes(state.facts.policy?.sha256 ?? '')
      ? [{ line: [say('edits pass', 'warn')], drop: 8, right: false }]
      : []),
    ...autoField(state),
    ...asksField(state),
    ...contextField(state),
    ...tokensField(state),
    ...boundsField(state),
    ...(state.facts.agentAnswers ? [{ line: [say('agent answers on', 'warn')], drop: 3, right: true } as const] : []),
    ...(state.facts.server === null
      ? []
      : [{ line: [say(`beam :${state.facts.server}`)], drop: 2, right: true } as const]),
    ...(state.composer.queue.length === 0 || state.pane === 'chat'
      ? []
      : [{ line: [say(`queued ${state.composer.queue.length}`)], drop: 1, right: true }]),
  ];
  for (let kept = fields; ; ) {
    const left: Line = [say(' '), ...join(kept.filter((field) => !field.right).map((field) => field.line))];
    const right = join(kept.filter((field) => field.right).map((field) => field.line));
    const gone = Math.min(...kept.map((field) => field.drop));
    if (gone === never || lineColumns(left) + lineColumns(right) + 2 <= state.size.columns)
      return spread(left, right, state.size.columns);
    kept = kept.flatMap((field) => (field.drop !== gone ? [field] : shortened(field)));
  }
}

const shortened = ({ short, ...field }: Field): readonly Field[] =>
  short === undefined ? [] : [{ ...field, line: short }];

function stateField(state: State): Line {
  const { ended, now } = state;
  const turn = activityOf(state);
  if (state.phase === 'starting') return [say('starting')];
  if (turn !== null) {
    // What is asked before a message is sent; no run has begun.
    if (turn === state.turn && asksFirst(state))
      return [say(`? waiting for you ${clock(now - turn.started_at)}`, 'ask')];
    if (turn.waiting_since !== null) return [say(`? waiting for you ${clock(now - turn.waiting_since)}`, 'ask')];
    // The words of a turn that another process has are in that process: nothing can be said of its silence.
    const quiet = turn === state.turn && state.turn.elsewhere !== null ? 0 : now - turn.heard_at;
    const words = turn.interrupted_at !== null ? 'stopping' : 'working';
    const silence = quiet > 8000 ? `, quiet for ${Math.floor(quiet / 1000)} s` : '';
    return [say(`* ${words} ${clock(now - turn.started_at - turn.waited_ms)}${silence}`, 'accent')];
  }
  if (state.pane === 'plan') return [say('idle')];
  if (ended !== null && 'rests' in ended) return [restingFields[ended.stands]];
  if (ended !== null) return [say('! failed: ', 'danger'), ...foreign(ended.failed, state.glyphs, 'danger')];
  return [say('idle')];
}

const restingFields = { suspended: say('= suspended', 'warn'), interrupted: say('! interrupted', 'warn') } as const;

/** Who drives a turn that is only looked at here. */
function elsewhereField(state: State): readonly Field[] {
  const { turn } = state;
  if (turn === null || turn.elsewhere === null || activityOf(state) !== turn) return [];
  const { by } = turn.elsewhere;
  const line =
    by === null ? [say('run by another process')] : foreign(`run by pid ${by.pid} (${by.surface})`, state.glyphs);
  return [{ line, drop: 8, right: false }];
}

function policyField({ facts: { policy }, glyphs }: State): Line {
  if (policy === null) return [say('policy -', 'dim')];
  if (policy.invalid) return [say('policy: INVALID, everything asks', 'danger')];
  return [
    say('policy '),
    ...foreign(policy.name, glyphs),
    say(policy.sha256 === null ? '' : ` ${policy.sha256.slice(0, 4)}`, 'dim'),
  ];
}

/** Where the counts of the plan have no room, its one mode stands here. */
const autoField = ({ pane, plan, size }: State): readonly Field[] =>
  pane === 'plan' && plan.plan !== null && size.columns < wideColumns
    ? [{ line: [say(`auto ${plan.auto ? 'on' : 'off'}`)], drop: 5, right: false }]
    : [];

function asksField({ asks, now }: State): readonly Field[] {
  if (asks.length === 0) return [];
  const next = Math.min(...asks.map((ask) => (ask.expires_at === null ? never : Date.parse(ask.expires_at))));
  const when = next === never ? '-' : formatRemaining(next - now);
  return [{ line: [say(`asks ${asks.length}, next ${when}`, 'ask')], drop: never, right: true }];
}

function modelField({ facts: { model, backend }, glyphs }: State): readonly Field[] {
  return model === null ? [] : [{ line: foreign(`${model}@${backend || '?'}`, glyphs), drop: 6, right: false }];
}

function contextField({ facts: { context } }: State): readonly Field[] {
  if (context === null) return [];
  const about = context.estimated ? '~' : '';
  if (context.limit === null || context.limit === 0)
    return [{ line: [say(`ctx ${about}${shortCount(context.used)}`)], drop: 7, right: true }];
  const percent = Math.round((context.used / context.limit) * 100);
  const token: Token | undefined = percent >= 80 ? 'warn' : undefined;
  const text = `ctx ${about}${percent}%${percent >= 80 ? '!' : ''}`;
  const counts = `${shortCount(context.used)}/${shortCount(context.limit)}`;
  return [{ line: [say(`${text} ${counts}`, token)], short: [say(text, token)], drop: 7, right: true }];
}

function tokensField({ facts: { tokens } }: State): readonly Field[] {
  if (tokens.in + tokens.out === 0) return [];
  const about = tokens.estimated ? '~' : '';
  return [{ line: [say(`${about}${shortCount(tokens.in)}/${shortCount(tokens.out)} tok`)], drop: 4, right: true }];
}

/** Of the run that goes on, rests or has failed: a completed one has no need of its bounds any more. */
function boundsField({ facts: { bounds }, turn, ended, pane }: State): readonly Field[] {
  if (bounds === null || (turn === null && ended === null) || pane === 'plan') return [];
  const { turns, tool_calls, tokens } = bounds.bounds;
  const parts = (
    [
      ['turns', turns],
      ['calls', tool_calls],
      ['tok', tokens],
    ] as const
  ).flatMap(([name, { used, max }]) =>
    max === null ? [] : [[say(`${name} ${shortCount(used)}/${shortCount(max)}`, used >= max ? 'warn' : undefined)]],
  );
  return parts.length === 0 ? [] : [{ line: join(parts), drop: 5, right: true }];
}
