import { messageTokens } from '../chain/tokens.ts';
import type { Prepared } from './expand.ts';
import type { Fitted } from './window.ts';

type HasPreface = Pick<Prepared, 'preface'>;

/** What a preface takes of the context. It is never shifted out or summed up, so it counts like the instruction. */
export const prefaceTokens = ({ preface }: HasPreface): number => (preface === null ? 0 : messageTokens(preface));

/** A request with the preface at its head: it is the same in every request, so what a provider keeps of them stays of use. */
export const withPreface = ({ preface }: HasPreface, fitted: Fitted): Fitted =>
  preface === null || fitted.kind === 'failed' ? fitted : { ...fitted, messages: [preface, ...fitted.messages] };
