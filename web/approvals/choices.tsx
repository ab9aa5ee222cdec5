import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import type { Answer } from './answer.ts';
import type { ChoiceProps } from './choice-props.ts';
import { EditDialog } from './edit-dialog.tsx';
import { ExplainDialog } from './explain-dialog.tsx';
import { GuardHint } from './guard-hint.tsx';
import { QuestionChoices } from './question.tsx';
import { RuleDialog } from './rule-dialog.tsx';
import { SureDialog, TextDialog } from './sure-dialog.tsx';

type Open = 'session' | 'edits' | 'rule' | 'edit' | 'feedback' | 'explain' | 'run_again' | 'done';

/** Second steps to what stands on the card, which they cover: one that has changed is to be seen first (09 §8.7.7). */
const ofTheCard: ReadonlySet<Open> = new Set(['session', 'edits', 'rule', 'run_again']);

/** The buttons of a card: those that the ask allows and no others. None has the focus at first. */
export function Choices(props: ChoiceProps) {
  const { ask, guard, hidden, busy, onShowAll, onAnswer, onLater } = props;
  const [opened, hold] = useState<{ readonly dialog: Open; readonly binding: string } | null>(null);
  const isOld = opened !== null && opened.binding !== ask.binding && ofTheCard.has(opened.dialog);
  const open = opened === null || isOld ? null : opened.dialog;
  const setOpen = (dialog: Open) => hold({ dialog, binding: ask.binding });
  const { choices } = ask.card;
  const has = (choice: string): boolean => choices.includes(choice);
  const close = () => hold(null);
  const approving = hidden === 0;
  const answer = (given: Answer) => () => void onAnswer(given);
  const budget = ask.kind === 'budget';

  return (
    <div className="choices">
      {ask.kind === 'question' ? <QuestionChoices {...props} /> : null}
      {approving ? (
        <>
          {has('once') ? (
            <Button look="primary" busy={busy} {...guard.press(answer({ outcome: 'approve' }), 'card')}>
              {budget ? 'Grant once more' : 'Approve once'}
            </Button>
          ) : null}
          {has('session') ? (
            <Button disabled={busy} {...guard.press(() => setOpen('session'))}>
              Approve for this session…
            </Button>
          ) : null}
          {has('edits') ? (
            <Button disabled={busy} {...guard.press(() => setOpen('edits'))}>
              Edits here, this session…
            </Button>
          ) : null}
          {has('rule') ? (
            <Button disabled={busy} {...guard.press(() => setOpen('rule'))}>
              Add a rule…
            </Button>
          ) : null}
          {has('run_again') ? (
            <Button disabled={busy} {...guard.press(() => setOpen('run_again'))}>
              Run again…
            </Button>
          ) : null}
        </>
      ) : (
        <Button look="primary" onClick={onShowAll}>
          Show {hidden} hidden lines
        </Button>
      )}
      {has('edit') ? (
        <Button disabled={busy} onClick={() => setOpen('edit')}>
          Edit…
        </Button>
      ) : null}
      {has('done') ? (
        <Button disabled={busy} onClick={() => setOpen('done')}>
          Treat as done…
        </Button>
      ) : null}
      {has('skip') ? (
        <Button disabled={busy} {...guard.press(answer({ outcome: 'answer', treat_as: 'skip' }))}>
          Skip
        </Button>
      ) : null}
      {has('deny') ? (
        <Button look="danger" disabled={busy} {...guard.press(answer({ outcome: 'deny' }))}>
          Deny
        </Button>
      ) : null}
      {has('deny_feedback') ? (
        <Button look="danger" disabled={busy} onClick={() => setOpen('feedback')}>
          Deny with feedback…
        </Button>
      ) : null}
      {has('explain') ? (
        <Button look="quiet" data-explain onClick={() => setOpen('explain')}>
          Explain
        </Button>
      ) : null}
      {has('full') && hidden > 0 ? (
        <Button look="quiet" data-full onClick={onShowAll}>
          View full
        </Button>
      ) : null}
      {has('later') && onLater !== undefined ? (
        <Button look="quiet" onClick={onLater}>
          Decide later
        </Button>
      ) : null}
      <GuardHint guard={guard} />
      {open === 'session' ? (
        <SureDialog
          title="Approve for this session"
          words="Exactly this call, with exactly these arguments, is let through without asking until the session ends, or its policy changes. In a run without a session: until the run ends."
          button="Approve for this session"
          onSure={() => onAnswer({ outcome: 'approve', remember: 'session' })}
          onClose={close}
        />
      ) : null}
      {open === 'edits' ? (
        <SureDialog
          title="Edits here, this session"
          words="Files of the workspace may be written and changed without asking until the session ends. Protected places still ask."
          button="Let edits through"
          onSure={() => onAnswer({ outcome: 'approve', remember: 'edits' })}
          onClose={close}
        />
      ) : null}
      {open === 'run_again' ? (
        <SureDialog
          title="Run again"
          words="The call may have taken effect already. It will run once more."
          button="Run again"
          onSure={() => onAnswer({ outcome: 'answer', treat_as: 'run_again' })}
          onClose={close}
        />
      ) : null}
      {open === 'done' ? (
        <TextDialog
          ask={ask.id}
          title="Treat as done"
          label="The result that the model is told"
          button="Treat as done"
          most={20_000}
          onText={(text) => onAnswer({ outcome: 'answer', treat_as: 'done', text })}
          onClose={close}
        />
      ) : null}
      {open === 'feedback' ? (
        <TextDialog
          ask={ask.id}
          title="Deny with feedback"
          label="What the model is told"
          button="Deny"
          most={4000}
          onText={(feedback) => onAnswer({ outcome: 'deny', feedback })}
          onClose={close}
        />
      ) : null}
      {open === 'rule' ? <RuleDialog ask={ask} onAnswer={onAnswer} onClose={close} /> : null}
      {open === 'edit' ? <EditDialog ask={ask} onAnswer={onAnswer} onClose={close} /> : null}
      {open === 'explain' ? <ExplainDialog id={ask.id} onClose={close} /> : null}
    </div>
  );
}
