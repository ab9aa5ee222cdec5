import type { NotifyWay } from './notify.ts';

/** What is configured of the screen (10 §1.2), with its defaults. */
export type Settings = {
  readonly theme: string | null;
  readonly glyphs: string | null;
  /** Another mode than the full one. */
  readonly mode: 'plain' | 'screen-reader' | null;
  readonly notify: NotifyWay;
  readonly clipboard: 'osc52' | 'file';
  readonly dump: string;
  readonly wheel: boolean;
  /** Nothing moves by itself more often than it has to. */
  readonly calm: boolean;
  readonly collapse: number;
  readonly guardMs: number;
  /** Entries of the history; null = as many as without a configuration. */
  readonly history: number | null;
};

/** @param given config keys that begin with `tui-`, which were checked when they were set */
export function settingsOf(given: ReadonlyMap<string, string>): Settings {
  const mode = given.get('tui-mode');
  const history = given.get('tui-history');
  return {
    theme: given.get('tui-theme') ?? null,
    glyphs: given.get('tui-glyphs') ?? null,
    mode: mode === 'plain' || mode === 'screen-reader' ? mode : null,
    notify: notifyWay(given.get('tui-notify')),
    clipboard: given.get('tui-clipboard') === 'file' ? 'file' : 'osc52',
    dump: given.get('tui-exit-dump') ?? 'last',
    wheel: given.get('tui-mouse') === 'wheel',
    calm: given.get('tui-reduced-motion') === 'true',
    collapse: Number(given.get('tui-collapse-lines') ?? 8),
    guardMs: Number(given.get('tui-guard-ms') ?? 400),
    history: history === undefined ? null : Number(history),
  };
}

const notifyWay = (text: string | undefined): NotifyWay =>
  text === 'osc' || text === 'bell' || text === 'off' ? text : 'auto';
