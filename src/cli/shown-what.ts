import { whatOf } from '../view/what-of.ts';

/** What an ask is about, for a line that a terminal escapes; where no escape is drawn, that of the summary stands. */
export const shownWhat = (isTerminal: boolean, ask: Parameters<typeof whatOf>[0]): string =>
  isTerminal ? whatOf(ask) : ask.summary;
