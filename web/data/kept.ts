import { createStore, type Store } from './store.ts';

/** What this browser keeps of the look of the app; nothing else is kept in it (09 §8.1). */
function kept<T extends string>(name: string, values: readonly T[], standard: T): Store<T> {
  const found = values.find((value) => value === read(name)) ?? standard;
  const store = createStore<T>(found);
  store.subscribe(() => write(name, store.get()));
  return store;
}

/** A browser may refuse to keep anything. */
function read(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Then it lasts as long as the page.
  }
}

export const theme = kept('theme', ['system', 'light', 'dark'] as const, 'system');
/** Whether single letters are keys (09 §8.16). */
export const letterKeys = kept('keys', ['on', 'off'] as const, 'on');

/** Puts the theme on the page, now and whenever it changes. */
export function applyTheme(): void {
  const apply = () => {
    const chosen = theme.get();
    if (chosen === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = chosen;
  };
  theme.subscribe(apply);
  apply();
}
