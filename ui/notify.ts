import type { State } from './state.ts';

export type NotifyWay = 'auto' | 'osc' | 'bell' | 'off';

const BEL = '\u0007';
/** A turn is told of when it took longer. */
const longTurnMs = 10_000;
/** Without reports of the focus: nobody has pressed a key for so long. */
const awayMs = 30_000;
const leastBetweenMs = 5000;

/** Terminals that show a notification by sequence 9, and those that do by 777. */
const byNine = /^(?:iTerm\.app|WezTerm|ghostty|vscode)$/;
const bySeven = /^(?:rxvt|foot)/;

export type NotifyDeps = {
  readonly now: () => number;
  readonly way: () => NotifyWay;
  /** `TERM_PROGRAM`, or empty. */
  readonly program: string;
  readonly inTmux: boolean;
  readonly signal: (bytes: string) => void;
};

/** Tells somebody who looks elsewhere that an ask waits, or that a long turn has ended (10 §13). */
export function createNotifier(deps: NotifyDeps) {
  let focused: boolean | null = null;
  let keyAt = deps.now();
  let last = Number.NEGATIVE_INFINITY;
  let before: State | null = null;

  const away = (): boolean => (focused === null ? deps.now() - keyAt > awayMs : !focused);
  const send = (text: string): void => {
    const way = deps.way();
    const now = deps.now();
    if (way === 'off' || !away() || now - last < leastBetweenMs) return;
    last = now;
    deps.signal(bytesOf(text, way, deps.program, deps.inTmux));
  };

  return {
    focus(has: boolean): void {
      focused = has;
    },
    key(): void {
      keyAt = deps.now();
    },
    /** Compares with the state before. */
    look(state: State): void {
      const known = new Set(before?.asks.map(({ id }) => id));
      const fresh = before === null ? undefined : state.asks.find(({ id }) => !known.has(id));
      if (fresh !== undefined)
        send(`reins: ${named(fresh.session_name ?? fresh.plan_name)} needs an answer (${fresh.tools}.${fresh.tool})`);
      const { over } = state;
      if (over !== null && over !== before?.over && over.ms > longTurnMs)
        send(`reins: ${named(over.name)} ${over.failed ? 'failed' : 'done'}`);
      before = state;
    },
  };
}

const named = (name: string | null): string =>
  (name ?? '')
    .replaceAll(/[^\w .-]/g, '')
    .slice(0, 60)
    .trim() || 'a run';

/** Chrome only; what a name could carry is left out. */
function bytesOf(text: string, way: NotifyWay, program: string, inTmux: boolean): string {
  const safe = text
    .replaceAll(/[^\x20-\x7e]/g, '')
    .replaceAll(';', ',')
    .slice(0, 120);
  if (way === 'bell') return BEL;
  const sequence = byNine.test(program)
    ? `\u001b]9;${safe}${BEL}`
    : bySeven.test(program) || way === 'osc'
      ? `\u001b]777;notify;reins;${safe}${BEL}`
      : BEL;
  if (!inTmux || sequence === BEL) return sequence;
  return `\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}\u001b\\${BEL}`;
}
