import { isTyping } from '../parts/typing.ts';

/** How long nothing is typed by who has seen that the field is gone. */
const quietMs = 700;

/**
 * What is being typed into a field that is taken away in the middle of a word stays text: the keys of the page would move
 * on to another ask and approve it. Until nothing has been typed for a moment, they do nothing. @returns what stops it
 */
export function holdTyped(): () => void {
  /** The field that was typed into, and when the last key came, in milliseconds since the page began. */
  let field: Element | null = null;
  let at = 0;
  const onKey = (event: KeyboardEvent): void => {
    const { target, key, timeStamp } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || (key.length > 1 && key !== 'Enter')) return;
    if (isTyping(target)) {
      // Enter ends what is written: what comes next is meant for the page.
      field = key !== 'Enter' && target instanceof Element ? target : null;
      at = timeStamp;
      return;
    }
    if (field === null || field.isConnected || timeStamp - at > quietMs) return;
    at = timeStamp;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  addEventListener('keydown', onKey, { capture: true });
  return () => removeEventListener('keydown', onKey, { capture: true });
}
