import { createBursts } from './burst.ts';
import { createInputDecoder as createDecoder, type InputEvent } from './decoder.ts';

/**
 * The decoder with a clock: what is certain only after a moment of silence (a lone ESC, a paste without an end, a line
 * that came in one read) is emitted by a timer, which does not keep the process alive.
 * @param now milliseconds of a steady clock
 */
export function createTimedDecoder(
  emit: (events: readonly InputEvent[]) => void,
  now: () => number,
): { push(bytes: Uint8Array): void; end(): void } {
  const decoder = createDecoder();
  const bursts = createBursts();
  let timer: NodeJS.Timeout | undefined;
  let late: NodeJS.Immediate | undefined;
  const rest = (): void => {
    clearTimeout(timer);
    if (late !== undefined) clearImmediate(late);
    late = undefined;
  };
  const give = (events: readonly InputEvent[]): void => {
    if (events.length > 0) emit(events);
    rest();
    const at = Math.min(decoder.wakeAt() ?? Infinity, bursts.wakeAt() ?? Infinity);
    if (at === Infinity) return;
    timer = setTimeout(look, Math.max(1, at - now()));
    timer.unref();
  };
  /** The time is over; but what lay in the terminal while this program was busy did not come late. */
  const look = (): void => {
    late = setImmediate(() => {
      const time = now();
      const keys = decoder.tick(time);
      give(keys.length > 0 ? bursts.take(keys, time) : bursts.tick(time));
    });
  };
  return {
    push: (bytes) => give(bursts.take(decoder.push(bytes, now()), now())),
    end: rest,
  };
}
