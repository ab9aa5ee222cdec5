import { useMemo } from 'react';
import type { Item } from '../../src/view/items.ts';
import { Button } from '../parts/button.tsx';
import { waits } from './call.tsx';
import { ItemView } from './item.tsx';
import type { Chat } from './use-chat.ts';
import type { Sought } from './use-find.ts';
import { useScrolling } from './use-scrolling.ts';

/** The items of a chat: only those near the view are in the page. It follows its end unless somebody has scrolled away. */
export function TranscriptView({
  items,
  older = null,
  unsent = [],
  onAgain,
  onUse,
  sought = null,
}: Pick<Chat, 'items'> &
  Partial<Pick<Chat, 'older' | 'unsent'>> & {
    /** What is looked for in it. */
    readonly sought?: Sought | null;
    /** Sends a message again; absent where nothing can be sent. */
    readonly onAgain?: ((text: string) => void) | undefined;
    /** Takes a text for the next message; absent where none can be written. */
    readonly onUse?: ((text: string) => void) | undefined;
  }) {
  const scrolling = useScrolling({ items, older, sought });
  const { rows, total, printing, isAway, away, toEnd } = scrolling;
  const asks = useMemo(() => items.some(isOpen), [items]);

  return (
    <div className="transcript-box">
      <section
        className="transcript"
        ref={scrolling.element}
        onScroll={scrolling.onScroll}
        onKeyDown={scrolling.onKeyDown}
        aria-label="Conversation"
        {...scrolls}
      >
        <div className="transcript-all" data-virtual style={printing ? {} : { height: `${total}px` }}>
          {rows.getVirtualItems().map((row) => {
            const item = items[row.index];
            return item === undefined ? null : (
              <div
                key={row.key}
                ref={rows.measureElement}
                data-index={row.index}
                className="transcript-row"
                data-found={
                  item.id === sought?.here ? 'here' : sought?.found.has(item.id) === true ? 'also' : undefined
                }
                style={printing ? {} : { transform: `translateY(${row.start}px)` }}
              >
                <ItemView
                  item={item}
                  unsent={unsent.find(({ id }) => id === item.id) ?? null}
                  onAgain={onAgain}
                  onUse={onUse}
                  newest={row.index === items.length - 1}
                  last={(items[row.index + 1]?.kind ?? 'user') === 'user'}
                  asks={asks}
                  find={item.id === sought?.here ? sought.pattern : null}
                />
              </div>
            );
          })}
        </div>
      </section>
      {isAway ? (
        <div className="to-end">
          <Button size="small" onClick={toEnd}>
            {away > 0 ? `${away} new` : 'To the end'} ↓
          </Button>
        </div>
      ) : null}
    </div>
  );
}

const isOpen = (item: Item): boolean =>
  item.kind === 'call' ? waits(item) : item.kind === 'ask' && item.verdict === null;

/** What scrolls is reached with the keyboard. */
const scrolls = { tabIndex: 0 } as const;
