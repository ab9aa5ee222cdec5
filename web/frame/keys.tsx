import { useEffect, useRef } from 'react';
import { createStore } from '../data/store.ts';

export type PageKey = { readonly key: string; readonly words: string; readonly act: () => void };

/** Keys of what is on the screen, newest part last. */
export const activeKeys = createStore<readonly (readonly PageKey[])[]>([]);

/** Gives the page single-letter keys; they mean nothing while a text field or a dialog has the focus (09 §8.16). */
export function useKeys(keys: readonly PageKey[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  const names = keys.map(({ key, words }) => `${key} ${words}`).join('\n');
  useEffect(() => {
    const own = names
      .split('\n')
      .filter((name) => name !== '')
      .map((_, index): PageKey => {
        const { key = '', words = '' } = latest.current[index] ?? {};
        return { key, words, act: () => latest.current[index]?.act() };
      });
    activeKeys.set([...activeKeys.get(), own]);
    return () => activeKeys.set(activeKeys.get().filter((each) => each !== own));
  }, [names]);
}
