import { type Instance, render } from 'ink';
import { App } from './app.tsx';
import type { Size } from './events.ts';
import { frameSink } from './frame-sink.ts';
import type { State } from './state.ts';
import type { Theme } from './theme.ts';
import type { LineCache } from './transcript/line-cache.ts';

export type DrawingDeps = {
  readonly theme: () => Theme;
  readonly cache: LineCache;
  readonly size: () => Size;
  readonly paint: (frame: string) => void;
  /** A component threw. */
  readonly crash: (error: unknown) => void;
};

/** The tree of components: drawn anew for each state that is given. */
export function createDrawing({ theme, cache, size, paint, crash }: DrawingDeps) {
  let instance: Instance | null = null;
  return {
    draw(state: State): void {
      const node = <App state={state} theme={theme()} cache={cache} />;
      if (instance === null) {
        instance = render(node, frameSink(size, paint));
        instance.waitUntilExit().catch(crash);
      } else instance.rerender(node);
    },
    /** Takes the tree down for its handlers; its last frame goes nowhere once the screen is left. */
    end(): void {
      instance?.unmount();
    },
  };
}
