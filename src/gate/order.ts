/**
 * Decides and starts the calls of a run in the order in which they came (04 §14.3). Decisions are one at a time. A
 * shared call (read-only, allowed without an ask) runs beside other shared ones; any other waits for all earlier calls
 * and runs alone, and a call that waits for a person holds back the later ones.
 */
export type CallOrder = {
  /** Resolves when every earlier call has been decided and none of them is exclusive any more. */
  enter(): Promise<Turn>;
};

export type Turn = {
  /** Lets the next call be decided while this one runs. Resolves when a place is free. */
  share(): Promise<void>;
  /** Resolves when no earlier call runs any more; later ones stay outside until `leave`. */
  exclude(): Promise<void>;
  leave(): void;
};

export function createOrder(parallelism: number): CallOrder {
  let gate: Promise<void> = Promise.resolve();
  let running = 0;
  let waiting: { readonly limit: number; readonly wake: () => void }[] = [];

  const until = (limit: number): Promise<void> => {
    if (running < limit) return Promise.resolve();
    return new Promise((wake) => waiting.push({ limit, wake }));
  };
  const release = (): void => {
    running -= 1;
    const ready = waiting.filter((one) => running < one.limit);
    waiting = waiting.filter((one) => running >= one.limit);
    for (const one of ready) one.wake();
  };

  return {
    async enter() {
      const before = gate;
      let open: () => void = () => {};
      gate = new Promise((resolve) => {
        open = resolve;
      });
      await before;
      let counted = false;
      return {
        async share() {
          await until(parallelism);
          running += 1;
          counted = true;
          open();
        },
        async exclude() {
          await until(1);
        },
        leave() {
          if (counted) release();
          counted = false;
          open();
        },
      };
    },
  };
}
