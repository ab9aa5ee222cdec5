import { useEffect, useRef } from 'react';
import { client } from '../data/client.ts';
import { createStore, useStore } from '../data/store.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { type FormDraft, useFormDraft } from '../parts/form-draft.tsx';

/** What was being written to an ask when it ended. */
const leftOver = createStore<string | null>(null);

/**
 * Words to an ask, kept like those of any form. Where the ask ends under them, because it was answered elsewhere or its
 * time ran out, they are given back.
 * @param ask its id
 * @param what the words are for
 */
export function useAskDraft(ask: string, what: string, blank = ''): FormDraft<{ readonly text: string }> {
  const draft = useFormDraft(`${what} ${ask}`, { text: blank });
  const latest = useRef(draft);
  latest.current = draft;
  useEffect(
    () => () => {
      const { fields, isLeft, sent } = latest.current;
      if (!isLeft()) return;
      client.getApproval({ id: ask }).then(
        ({ state }) => {
          // Its own answer may have ended it, which is known by now.
          if (state === 'pending' || !isLeft()) return;
          sent();
          leftOver.set(fields.text);
        },
        // Nobody knows what has become of it: the words stay where they are.
        () => undefined,
      );
    },
    [ask],
  );
  return draft;
}

/** Gives back what could not be sent, on whatever page that is noticed. */
export function LeftOver() {
  const text = useStore(leftOver);
  if (text === null) return null;
  return (
    <Dialog title="Not sent" unasked onClose={() => leftOver.set(null)}>
      <p>The ask that you were writing to has ended. This was not sent:</p>
      <CodeBlock text={text} label="what you wrote" />
    </Dialog>
  );
}
