/** How far down each address was read when it was left, in pixels. */
const places = new Map<string, number>();
let returning = false;

/** Whether somebody goes back just now, so that what is drawn should be what was left. */
export const isReturning = (): boolean => returning;

/** What is read for a page comes at last, or it is another page by now. */
const mostMs = 5000;
const acts = ['wheel', 'touchstart', 'keydown', 'pointerdown'] as const;

/**
 * Goes back to the place in a page, too, not to its top: a browser restores it at once, before what the page is about was
 * read again, and when there is nothing to scroll yet. Begins before anything is drawn, to hear of it before what draws the page.
 */
export function keepPlaces(): void {
  let arrive = (): void => undefined;
  const note = (): void => {
    if (!returning) places.set(address(), scrollY);
  };
  const goBack = (): void => {
    arrive();
    returning = true;
    const wanted = places.get(address()) ?? 0;
    const grown = new ResizeObserver(() => {
      if (document.documentElement.scrollHeight - innerHeight < wanted) return;
      arrive();
      scrollTo(0, wanted);
    });
    const timer = setTimeout(() => arrive(), mostMs);
    arrive = () => {
      returning = false;
      grown.disconnect();
      clearTimeout(timer);
      // Whoever acts meanwhile goes where they want to.
      for (const act of acts) removeEventListener(act, arrive);
      arrive = () => undefined;
    };
    for (const act of acts) addEventListener(act, arrive);
    grown.observe(document.body);
  };
  addEventListener('scroll', note);
  addEventListener('popstate', goBack);
}

const address = (): string => `${location.pathname}${location.search}`;
