import { useCallback, useEffect, useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { AskHead } from '../../src/schema/ask-views.ts';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { ErrorNote, Loaded, Skeleton } from '../parts/states.tsx';
import { type Answer, useAnswer } from './answer.ts';
import { CardBody, foldsOf } from './card-body.tsx';
import { headlineOf } from './card-facts.ts';
import type { Asked } from './choice-props.ts';
import { Choices } from './choices.tsx';
import { Countdown } from './countdown.tsx';
import { foldedLines } from './folds.tsx';
import { useGuard } from './guard.ts';
import { Outcome } from './outcome.tsx';
import '../styles/approvals.css';

/**
 * An ask as a person answers it (09 §8.7): read from its row, kept fresh, guarded against presses that were meant for
 * something else, and never approved while a part of it was not displayed.
 */
export function AskCard({ id, onLater }: { readonly id: string; readonly onLater?: (() => void) | undefined }) {
  const ask = useData(`ask ${id}`, () => client.getApproval({ id }), {
    topics: ['approvals'],
    when: (entry) => entry.ask_id === id,
  });
  const [answered, setAnswered] = useState<AskHead | null>(null);
  if (ask.value === null && ask.error === null) return <Skeleton />;
  return (
    <Loaded data={ask}>
      {(shown) => {
        // What an answer has made of it is known before it is read again.
        const newer = answered?.id === id && answered.updated_at >= shown.updated_at ? answered : shown;
        return newer === shown && shown.state === 'pending' ? (
          <OpenCard ask={shown} onLater={onLater} onAnswered={setAnswered} reload={ask.reload} />
        ) : (
          <Outcome ask={newer} />
        );
      }}
    </Loaded>
  );
}

/** The card has a key of its own, `a`, and so a place in the order of the keyboard. */
const takesKeys = { tabIndex: 0 } as const;

function OpenCard({
  ask,
  onLater,
  onAnswered,
  reload,
}: {
  readonly ask: Asked;
  readonly onLater: (() => void) | undefined;
  readonly onAnswered: (ask: AskHead) => void;
  readonly reload: () => void;
}) {
  const { card } = ask;
  const element = useRef<HTMLElement>(null);
  const title = useId();
  const version = `${ask.binding} ${ask.updated_at}`;
  const guard = useGuard(element, version);
  const sending = useAnswer(ask.id, ask.binding, reload);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());

  // What was seen belongs to the ask as it was displayed.
  useEffect(() => {
    void version;
    setOpened(new Set());
  }, [version]);

  const folds = foldsOf(card).filter(({ total }) => total > foldedLines);
  const hidden = folds.filter((fold) => !opened.has(fold.id)).reduce((sum, { total }) => sum + total - foldedLines, 0);
  const open = (parts: Iterable<string>) => {
    setOpened(new Set(parts));
    // The button that was pressed goes; whoever reads by keyboard stays with the card, and the page where it was.
    element.current?.focus({ preventScroll: true });
  };
  const openAll = () => open(folds.map((fold) => fold.id));
  const { send } = sending;
  const answer = useCallback(
    async (given: Answer) => {
      const done = await send(given);
      if (done === null) return null;
      if (done.state !== 'pending') onAnswered(done);
      reload();
      return done;
    },
    [send, onAnswered, reload],
  );

  return (
    <article
      ref={element}
      className="card"
      aria-labelledby={title}
      {...takesKeys}
      data-ask={ask.id}
      onKeyDown={(event) => {
        if (event.key !== 'a' || event.target !== element.current || event.repeat) return;
        event.preventDefault();
        event.stopPropagation();
        if (hidden > 0 || !card.choices.includes('once')) return;
        guard.key(() => void answer({ outcome: 'approve' }));
      }}
    >
      <header className="card-head">
        <h2 id={title}>{headlineOf(card, ask.cwd)}</h2>
        <Countdown expiresAt={ask.expires_at} kind={ask.kind} />
      </header>
      <CardBody
        card={card}
        cwd={ask.cwd}
        question={ask.question}
        isOpen={(part) => opened.has(part)}
        onOpen={(part) => open([...opened, part])}
      />
      {sending.error === null ? null : <ErrorNote error={sending.error} />}
      {sending.state === 'unconfirmed' ? (
        <p className="note warn" role="status">
          Not confirmed yet: the connection is lost. The same answer is sent until the server has it.
        </p>
      ) : null}
      <Choices
        ask={ask}
        guard={guard}
        hidden={hidden}
        busy={sending.state !== 'idle'}
        onShowAll={openAll}
        onAnswer={answer}
        onLater={onLater}
      />
      {ask.run_id === null ? null : (
        <p className="small">
          <Link href={`/runs/${ask.run_id}`}>The run</Link> · <span className="mono muted">{ask.id}</span>
        </p>
      )}
    </article>
  );
}
