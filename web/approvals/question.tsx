import { type FormEvent, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { AreaField } from '../parts/field.tsx';
import { Safe } from '../parts/safe.tsx';
import type { ChoiceProps } from './choice-props.ts';

/** The answers that the model offers, and a field for another one. */
export function QuestionChoices({
  ask,
  guard,
  busy,
  onAnswer,
}: Pick<ChoiceProps, 'ask' | 'guard' | 'busy' | 'onAnswer'>) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void onAnswer({ outcome: 'answer', text });
  };
  return (
    <form className="stack question" onSubmit={submit}>
      <div className="row">
        {(ask.question?.choices ?? []).map((choice) => (
          <Button
            key={choice}
            disabled={busy}
            {...guard.press(() => void onAnswer({ outcome: 'answer', text: choice }))}
          >
            <Safe text={choice} />
          </Button>
        ))}
      </div>
      <AreaField
        label="Your answer"
        rows={3}
        maxLength={20_000}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div>
        <Button submit look="primary" busy={busy} disabled={text.trim() === ''}>
          Answer
        </Button>
      </div>
    </form>
  );
}
