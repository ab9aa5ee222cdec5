import type { KeyboardEvent } from 'react';
import { Button } from '../parts/button.tsx';
import { Safe } from '../parts/safe.tsx';
import type { Find } from './use-find.ts';

/** What a conversation is looked through for, and where one is among what was found. */
export function FindBar({ find }: { readonly find: Find }) {
  const { text, at, count, place, places, isWhole, failed, words, go, close } = find;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.nativeEvent.isComposing) return;
    // A browser would only empty the field.
    event.preventDefault();
    close();
  };
  const onEnter = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    go(event.shiftKey ? 'newer' : 'older');
  };
  const none = count === 0;
  return (
    <search className="find row" onKeyDown={onKeyDown}>
      <input
        ref={find.field}
        className="input"
        type="search"
        aria-label="Find in this conversation"
        placeholder="Find in this conversation"
        enterKeyHint="search"
        maxLength={256}
        dir="auto"
        value={text}
        onChange={({ target }) => find.setText(target.value)}
        onKeyDown={onEnter}
      />
      <span className="small muted find-count" role="status">
        {find.sought === null ? '' : countWords(at, count, isWhole || failed)}
        {places < 2 ? null : (
          <>
            {' '}
            <span aria-hidden="true">
              · {place}/{places}
            </span>
            <span className="sr">
              , place {place} of {places} in it
            </span>
          </>
        )}
        {failed ? ' Older messages could not be read.' : ''}
        {words === '' ? null : (
          <span className="sr">
            , <Safe text={words} />
          </span>
        )}
      </span>
      <span className="row push">
        <Button size="small" look="quiet" disabled={none} aria-label="Older match" onClick={() => go('older')}>
          ↑
        </Button>
        <Button size="small" look="quiet" disabled={none} aria-label="Newer match" onClick={() => go('newer')}>
          ↓
        </Button>
        <Button size="small" look="quiet" aria-label="Close find" onClick={close}>
          ✕
        </Button>
      </span>
    </search>
  );
}

function countWords(at: number, count: number, isWhole: boolean): string {
  if (count === 0) return isWhole ? 'Not found' : 'Looking through older messages…';
  return isWhole ? `${at} of ${count}` : `${at} of ${count} so far…`;
}
