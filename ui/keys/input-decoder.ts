import { createInputDecoder as createDecoder, type InputEvent } from './decoder.ts';

/**
 * The decoder with a clock: what is certain only after a moment of silence (a lone ESC, a paste without an end) is
 * emitted by a timer, which does not keep the process alive.
 * @param now milliseconds of a steady clock
 */
export function createTimedDecoder(
  emit: (events: readonly InputEvent[]) => void,
  now: () => number,
): { push(bytes: Uint8Array): void; end(): void } {
  const decoder = createDecoder();
  let timer: NodeJS.Timeout | null = null;
  const give = (events: readonly InputEvent[]): void => {
    if (events.length > 0) emit(events);
    if (timer !== null) clearTimeout(timer);
    const at = decoder.wakeAt();
    timer = at === null ? null : setTimeout(() => give(decoder.tick(now())), Math.max(1, at - now()));
    timer?.unref();
  };
  return {
    push: (bytes) => give(decoder.push(bytes, now())),
    end: () => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
