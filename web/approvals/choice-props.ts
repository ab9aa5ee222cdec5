import type { client } from '../data/client.ts';
import type { Answer } from './answer.ts';
import type { Guard } from './guard.ts';

/** An ask with its card, and what came of an answer. */
export type Asked = Awaited<ReturnType<typeof client.getApproval>>;
export type Answered = Awaited<ReturnType<typeof client.answerApproval>>;

/** What the buttons of a card are about. */
export type ChoiceProps = {
  readonly ask: Asked;
  readonly guard: Guard;
  /** Lines that were never displayed: while there are any, nothing approves. */
  readonly hidden: number;
  readonly busy: boolean;
  readonly onShowAll: () => void;
  readonly onAnswer: (answer: Answer) => Promise<Answered | null>;
  readonly onLater: (() => void) | undefined;
};
