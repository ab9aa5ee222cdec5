import { memo, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { formatSpan } from '../../src/view/format.ts';
import { imageWords } from '../../src/view/image-words.ts';
import { type Item, restsAt } from '../../src/view/items.ts';
import { AskCard } from '../approvals/ask-card.tsx';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { useEverywhere } from '../frame/everywhere.ts';
import { Button, CopyButton } from '../parts/button.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { CallLine } from './call.tsx';
import type { Unsent } from './use-sending.ts';

export type ItemProps = {
  readonly item: Item;
  /** It was not taken. */
  readonly unsent: Unsent | null;
  readonly onAgain: ((text: string) => void) | undefined;
  /** Takes the text of a message of one's own for the next one; absent where nothing can be written. */
  readonly onUse: ((text: string) => void) | undefined;
  /** Nothing has happened after it. */
  readonly newest: boolean;
  /** Nothing has happened after it in its turn. */
  readonly last: boolean;
  /** An ask is open, so nothing goes on before it was answered. */
  readonly asks: boolean;
  /** What is looked for was found in it, and is to be seen. */
  readonly find: RegExp | null;
};

/** One item of a transcript; what did not change is not drawn again. */
export const ItemView = memo(({ item, unsent, onAgain, onUse, newest, last, asks, find }: ItemProps) => {
  switch (item.kind) {
    case 'user':
      return (
        <article className={`said user ${item.state}`} aria-label="You">
          <div className="bubble wrap" dir="auto">
            <Safe text={item.text} mode="prose" />
            {(item.images ?? []).map((image, index) => (
              // Two images may have one name, and none of them moves.
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              <div key={index} className="small muted">
                <Safe text={imageWords(image)} mode="line" />
              </div>
            ))}
          </div>
          {unsent !== null ? (
            <>
              <ErrorNote error={unsent.error} onRetry={unsent.again} />
              <Missing />
              <Button size="small" look="quiet" onClick={unsent.takeBack}>
                Take back, to change it
              </Button>
            </>
          ) : null}
          {item.state === 'pending' && unsent === null ? <span className="small muted">sending…</span> : null}
          {item.state === 'sent' ? (
            <div className="said-acts">
              <CopyButton text={item.text} what="your message" />
              {onUse === undefined ? null : (
                <Button size="small" look="quiet" onClick={() => onUse(item.text)}>
                  Use again<span className="sr"> as the next message</span>
                </Button>
              )}
            </div>
          ) : null}
        </article>
      );
    case 'assistant':
      return (
        <article className="said" aria-label="Reins">
          <Markdown text={item.text} find={find} />
          {item.state === 'streaming' ? <span className="pulse inline" aria-hidden="true" /> : null}
          {item.state === 'partial' ? <p className="tag warn">partial: it was interrupted</p> : null}
          {item.state === 'failed' ? <p className="tag danger">failed before it was complete</p> : null}
          {item.state !== 'streaming' && last ? (
            <div className="said-acts">
              <CopyButton text={item.text} what="the answer" />
            </div>
          ) : null}
        </article>
      );
    case 'reasoning':
      return <Reasoning item={item} find={find} />;
    case 'call':
      return <CallLine item={item} find={find} />;
    case 'ask':
      return <AskCard id={item.id} />;
    case 'notice':
      return (
        <p className={`small notice ${item.level}`}>
          <Safe text={item.text} mode="prose" />
          {/* What a run has left that did not complete: after a reload nothing else tells of it. */}
          {newest && item.id.endsWith('-note') ? <Again onAgain={onAgain} /> : null}
        </p>
      );
    case 'end': {
      const rests = restsAt(item);
      if (rests && item.class === 'ask' && newest && !asks) return <Answered runId={item.run_id} />;
      return rests && (item.class === 'ask' || (newest && asks)) ? (
        <p className="small notice">The run rests until you have answered.</p>
      ) : (
        <div>
          <div className={`note ${item.status === 'failed' ? 'danger' : 'warn'} row`}>
            <b>{item.status}</b>
            <span className="grow wrap readable">
              <Safe text={item.class === item.status ? item.text : `${item.class}: ${item.text}`} mode="prose" />
            </span>
            {rests ? newest ? <ResumeButton runId={item.run_id} /> : null : newest ? <Again onAgain={onAgain} /> : null}
          </div>
        </div>
      );
    }
  }
});

/** Why it was not taken may be that the program is not set up, which its refusal says in words of the command line. */
function Missing() {
  const { setup } = useEverywhere();
  const missing = setup.value?.issues.some(({ severity }) => severity === 'error') === true;
  return missing ? <Link href="/setup">The set-up is not complete: see what is missing</Link> : null;
}

/** Of the last message alone: an earlier one was followed by others. */
const Again = ({ onAgain }: Pick<ItemProps, 'onAgain'>) =>
  onAgain === undefined ? null : (
    <Button size="small" onClick={() => onAgain('')}>
      Send again
    </Button>
  );

/** How long a run that was answered may take to go on. */
const goesOnMs = 1500;

/** Who answers may leave the run where it is, and an ask may run out; otherwise it goes on at once, and this is gone. */
function Answered({ runId }: { readonly runId: string }) {
  const [stays, setStays] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setStays(true), goesOnMs);
    return () => clearTimeout(timer);
  }, []);
  return stays ? (
    <div>
      <div className="note warn row">
        <span className="grow wrap readable">The run rests, and nothing is left to answer.</span>
        <ResumeButton runId={runId} />
      </div>
    </div>
  ) : null;
}

/** A run that rests goes on where it stopped; that it has begun comes by the feed. */
function ResumeButton({ runId }: { readonly runId: string }) {
  const resume = useAction(() => client.continueRun({ id: runId }));
  return (
    <>
      <Button size="small" busy={resume.busy} onClick={() => void resume.run()}>
        Resume
      </Button>
      {resume.error === null ? null : <ErrorNote error={resume.error} />}
    </>
  );
}

function Reasoning({ item, find }: Pick<ItemProps, 'find'> & { readonly item: Extract<Item, { kind: 'reasoning' }> }) {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (find !== null) setOpen(true);
  }, [find]);
  return (
    <div className="call">
      <button type="button" className="call-line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span aria-hidden="true">{open ? '▾' : '▸'}</span>
        <span className="muted">
          {item.state === 'streaming' ? 'thinking…' : `thought${item.ms === null ? '' : ` for ${formatSpan(item.ms)}`}`}
        </span>
      </button>
      {open ? (
        <p className="call-body wrap muted small">
          <Safe text={item.text} mode="prose" />
        </p>
      ) : null}
    </div>
  );
}
