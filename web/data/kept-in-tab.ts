import { createStore, type Store } from './store.ts';

const stores = new Map<string, Store<unknown>>();

/**
 * Something that lasts as long as the tab, over a reload as well (09 §8.1); where the browser keeps nothing, as long as
 * the page. Whoever asks for the same name has the same value.
 * @param read makes sense of what was kept; null where there is none in it
 */
export function keptInTab<T>(name: string, standard: T, read: (kept: unknown) => T | null): Store<T> {
  const known = stores.get(name);
  // A name is asked for with one type, by whoever it belongs to.
  if (known !== undefined) return known as Store<T>;
  const store = createStore<T>(read(kept(name)) ?? standard);
  store.subscribe(() => keep(name, store.get(), standard));
  stores.set(name, store);
  return store;
}

function kept(name: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? 'null');
  } catch {
    return null;
  }
}

function keep<T>(name: string, value: T, standard: T): void {
  try {
    if (value === standard) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Then it lasts as long as the page.
  }
}
