import { toWire } from '../src/schema/errors.ts';
import type { TuiOptions } from './options.ts';
import { type Settings, settingsOf } from './settings.ts';
import type { Theme } from './theme.ts';

/** How the screen looks and behaves: what was given at the start, then what is configured, then what a command says. */
export type Look = {
  theme(): Theme;
  settings(): Settings;
  mostHistory(): number;
  /** @returns whether more or less of the history is kept than before, and what is wrong with the theme, which then stays */
  configure(given: ReadonlyMap<string, string>): { readonly rereads: boolean; readonly problem: string | null };
  /** @throws RuntimeError usage, with what is wrong */
  takeTheme(name: string): void;
  notifyBy(way: Settings['notify']): void;
};

/** @throws RuntimeError usage for a broken theme */
export function createLook(options: Pick<TuiOptions, 'theme' | 'themeNamed' | 'mostHistory'>): Look {
  let theme = options.theme({ theme: null, glyphs: null });
  let settings: Settings = { ...settingsOf(new Map()), history: options.mostHistory };
  return {
    theme: () => theme,
    settings: () => settings,
    mostHistory: () => settings.history ?? options.mostHistory,
    configure(given) {
      const next = settingsOf(given);
      const kept = next.history ?? settings.history;
      const rereads = kept !== settings.history;
      settings = { ...next, history: kept };
      try {
        theme = options.theme(settings);
        return { rereads, problem: null };
      } catch (error) {
        return { rereads, problem: toWire(error).message };
      }
    },
    takeTheme(name) {
      theme = options.themeNamed(name);
    },
    notifyBy(way) {
      settings = { ...settings, notify: way };
    },
  };
}
