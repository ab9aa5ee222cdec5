import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Heap } from './rest.ts';

/** The heap of the thread that calls this. */
export function createHeap(): Heap {
  let collect: (() => void) | null = null;
  return {
    used: () => process.memoryUsage().heapUsed,
    collect() {
      collect ??= collector();
      collect();
    },
  };
}

/** The flag holds only for the moment: the engine refuses bytecode that was made under other flags. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  try {
    // What a context made under this flag has by that name is this function.
    return runInNewContext('gc') as () => void;
  } finally {
    setFlagsFromString('--no-expose-gc');
  }
}
