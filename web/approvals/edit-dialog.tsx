import { useRef } from 'react';
import { readObject } from '../../src/text/json-object.ts';
import { verdictLine } from '../../src/view/explanation.ts';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { useSettled } from '../data/use-settled.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { AreaField } from '../parts/field.tsx';
import { IsBack } from '../parts/form-draft.tsx';
import { Safe } from '../parts/safe.tsx';
import { Loaded } from '../parts/states.tsx';
import { policyFile } from './card-facts.ts';
import type { ChoiceProps } from './choice-props.ts';
import { useGuard } from './guard.ts';
import { GuardHint } from './guard-hint.tsx';
import { useAskDraft } from './left-over.tsx';
import { NotTaken, useWritten } from './not-taken.tsx';

/** Other arguments for the call, as JSON, with what would be decided of them before they are sent (09 §8.7.5). */
export function EditDialog({
  ask,
  onAnswer,
  onClose,
}: Pick<ChoiceProps, 'ask' | 'onAnswer'> & { readonly onClose: () => void }) {
  const draft = useAskDraft(ask.id, 'edit', JSON.stringify(ask.args, null, 2));
  const { text } = draft.fields;
  const settled = useSettled(text);
  const args = readObject(settled);
  const element = useRef<HTMLDivElement>(null);
  const guard = useGuard(element, '');
  const { tools, tool, cwd, policy } = ask;
  // One that was named by its path can be asked for by no name.
  const named = policy.source !== 'file';
  const { refused, busy, send } = useWritten(() => {
    draft.sent();
    onClose();
  });
  const decided = useData(args === null || !named ? null : `edited ${settled}`, () =>
    client.explainPolicy({ file: policyFile(policy.name), tools, tool, args: args ?? {}, cwd }),
  );
  return (
    <Dialog title="Edit the arguments" onClose={onClose}>
      <div ref={element} className="stack">
        <IsBack draft={draft} />
        <AreaField
          label="Arguments as JSON"
          className="mono"
          rows={10}
          spellCheck={false}
          value={text}
          onChange={(event) => draft.change({ text: event.target.value })}
          fault={readObject(text) === null ? 'This is no JSON object.' : null}
          hint="The model is told that you changed them. The edited call is judged anew, and asks again where the rules say so."
        />
        {args === null || !named ? null : (
          <Loaded data={decided}>
            {({ record }) => (
              <p className="note mono small">
                <Safe text={verdictLine(record)} />
              </p>
            )}
          </Loaded>
        )}
        {refused ? <NotTaken /> : null}
        <div className="dialog-foot">
          <GuardHint guard={guard} />
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            busy={busy}
            disabled={args === null || settled !== text}
            {...guard.press(() => {
              if (args !== null) void send(() => onAnswer({ outcome: 'approve', edited_args: args }));
            })}
          >
            Send the edited call
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
