import { useState } from 'react';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { CodeBlock } from '../parts/code-block.tsx';
import { Empty, Loaded } from '../parts/states.tsx';

/** Stored events as they are, a page at a time. */
export function EventsTab({ runId }: { readonly runId: string }) {
  const [after, setAfter] = useState(0);
  const events = useData(`events ${runId} ${after}`, () => client.pageRunEvents({ id: runId, after, limit: 100 }), {
    topics: ['runs'],
    when: (entry) => entry.run_id === runId,
  });
  return (
    <Loaded data={events}>
      {({ items, next_after }) => (
        <>
          {items.length === 0 ? (
            <Empty>No more events.</Empty>
          ) : (
            <CodeBlock text={items.map(lineOf).join('\n')} label="Events" lines={100} />
          )}
          <div className="row">
            <Button disabled={after === 0} onClick={() => setAfter(0)}>
              From the first
            </Button>
            <Button disabled={items.length < 100} onClick={() => setAfter(next_after)}>
              Next ones
            </Button>
          </div>
        </>
      )}
    </Loaded>
  );
}

const lineOf = (event: unknown): string => JSON.stringify(event);
