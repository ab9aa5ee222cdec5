import type { FormEvent } from 'react';
import { Button } from '../parts/button.tsx';
import { AreaField } from '../parts/field.tsx';
import { IsBack } from '../parts/form-draft.tsx';
import { Safe } from '../parts/safe.tsx';
import type { ChoiceProps } from './choice-props.ts';
import { useAskDraft } from './left-over.tsx';

/** The answers that the model offers, and a field for another one. */
export function QuestionChoices({
  ask,
  guard,
  busy,
  onAnswer,
}: Pick<ChoiceProps, 'ask' | 'guard' | 'busy' | 'onAnswer'>) {
  const draft = useAskDraft(ask.id, 'answer');
  const { text } = draft.fields;
  const answer = (given: string) =>
    void onAnswer({ outcome: 'answer', text: given }).then((taken) => {
      if (taken !== null) draft.sent();
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    answer(text);
  };
  return (
    <form className="stack question" onSubmit={submit}>
      <div className="row">
        {(ask.question?.choices ?? []).map((choice) => (
          <Button key={choice} disabled={busy} {...guard.press(() => answer(choice))}>
            <Safe text={choice} />
          </Button>
        ))}
      </div>
      <IsBack draft={draft} />
      <AreaField
        label="Your answer"
        rows={3}
        maxLength={20_000}
        value={text}
        onChange={(event) => draft.change({ text: event.target.value })}
      />
      <div>
        <Button submit look="primary" busy={busy} disabled={text.trim() === ''}>
          Answer
        </Button>
      </div>
    </form>
  );
}
