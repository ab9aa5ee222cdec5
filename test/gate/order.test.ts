import { expect, it } from 'vitest';
import { createOrder } from '../../src/gate/order.ts';

/** A step that a test finishes by hand. */
function step(): { readonly done: Promise<void>; finish(): void } {
  let finish = (): void => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return { done, finish: () => finish() };
}

/** Lets everything that is ready run. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

it('runs shared calls beside each other, decided in the order in which they came', async () => {
  const order = createOrder(8);
  const log: string[] = [];
  const ends = [step(), step(), step()];
  const calls = ends.map(async (end, index) => {
    const turn = await order.enter();
    log.push(`decide ${index}`);
    await turn.share();
    log.push(`run ${index}`);
    await end.done;
    turn.leave();
  });
  await settle();
  expect(log).toEqual(['decide 0', 'run 0', 'decide 1', 'run 1', 'decide 2', 'run 2']);
  for (const end of ends) end.finish();
  await Promise.all(calls);
});

it('holds an exclusive call until earlier ones have ended, and later ones until it has', async () => {
  const order = createOrder(8);
  const log: string[] = [];
  const first = step();
  const second = step();
  const calls = [
    (async () => {
      const turn = await order.enter();
      await turn.share();
      log.push('read runs');
      await first.done;
      turn.leave();
    })(),
    (async () => {
      const turn = await order.enter();
      await turn.exclude();
      log.push('write runs');
      await second.done;
      turn.leave();
    })(),
    (async () => {
      const turn = await order.enter();
      await turn.share();
      log.push('later read runs');
      turn.leave();
    })(),
  ];
  await settle();
  expect(log).toEqual(['read runs']);
  first.finish();
  await settle();
  expect(log).toEqual(['read runs', 'write runs']);
  second.finish();
  await Promise.all(calls);
  expect(log).toEqual(['read runs', 'write runs', 'later read runs']);
});

it('keeps to the number of calls that may run at once', async () => {
  const order = createOrder(2);
  let running = 0;
  let most = 0;
  const ends = Array.from({ length: 6 }, step);
  const calls = ends.map(async (end) => {
    const turn = await order.enter();
    await turn.share();
    running += 1;
    most = Math.max(most, running);
    await end.done;
    running -= 1;
    turn.leave();
  });
  await settle();
  expect(running).toBe(2);
  for (const end of ends) {
    end.finish();
    await settle();
  }
  await Promise.all(calls);
  expect(most).toBe(2);
});

it('lets the next call in when one leaves without having run', async () => {
  const order = createOrder(8);
  const refused = await order.enter();
  refused.leave();
  const next = await order.enter();
  await next.exclude();
  next.leave();
  expect(await order.enter()).toBeDefined();
});
