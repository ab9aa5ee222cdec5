/**
 * Keeps the place of who works with the keyboard: where what has the focus is taken away, the browser gives it to the page
 * as a whole, and the next Tab begins at its top. It goes to what stands there now instead, never to something that a
 * press would act on. @returns what stops it
 */
export function keepFocus(): () => void {
  let last: Element | null = null;
  const enter = ({ target }: FocusEvent): void => {
    last = target instanceof Element ? target : null;
  };
  // Who presses beside everything leaves on purpose; what is taken away, or can no longer be pressed, is left as well.
  const leave = ({ relatedTarget }: FocusEvent): void => {
    if (relatedTarget !== null) return;
    setTimeout(() => {
      if (last === null || !isNowhere()) return;
      if (last.matches(':disabled')) give(last.parentElement);
      else last = null;
    });
  };
  const taken = new MutationObserver((records) => {
    const lost = last;
    if (lost === null || lost.isConnected || !isNowhere()) return;
    const record = records.find(
      ({ target, removedNodes }) => target.isConnected && [...removedNodes].some((node) => node.contains(lost)),
    );
    last = null;
    if (record !== undefined) give(placeOf(record));
  });
  addEventListener('focusin', enter);
  addEventListener('focusout', leave);
  taken.observe(document.body, { childList: true, subtree: true });
  return () => {
    removeEventListener('focusin', enter);
    removeEventListener('focusout', leave);
    taken.disconnect();
  };
}

const isNowhere = (): boolean => document.activeElement === null || document.activeElement === document.body;

/** What stands where something was removed: what came for it, what followed it, or what is left there at all. */
function placeOf({ target, previousSibling, nextSibling }: MutationRecord): Element | null {
  const all = target instanceof Element ? target : document.body;
  // Rows go because somebody scrolls: the keys that scroll go on doing so.
  if (all.matches('[data-virtual]')) return all.closest('[tabindex]');
  const siblings = [...all.children];
  const before = siblings.find((each) => each === previousSibling);
  const after = siblings.find((each) => each === nextSibling);
  const now = before === undefined ? (previousSibling === null ? siblings[0] : after) : before.nextElementSibling;
  const place = now ?? siblings.at(-1) ?? all;
  return place.matches(pressed) ? all : place;
}

const pressed = 'a, button, input, select, textarea, summary';

function give(place: Element | null): void {
  if (!(place instanceof HTMLElement)) return;
  if (!place.hasAttribute('tabindex')) place.tabIndex = -1;
  place.focus({ preventScroll: true });
}
