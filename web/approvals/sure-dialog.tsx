import { type FormEvent, type ReactNode, useRef } from 'react';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { AreaField } from '../parts/field.tsx';
import { IsBack } from '../parts/form-draft.tsx';
import { useGuard } from './guard.ts';
import { GuardHint } from './guard-hint.tsx';
import { useAskDraft } from './left-over.tsx';
import { NotTaken, useWritten } from './not-taken.tsx';

/** The second step of an answer that reaches further than one call: a press or `a`, after the guard. */
export function SureDialog({
  title,
  words,
  button,
  onSure,
  onClose,
  children,
}: {
  readonly title: string;
  readonly words: string;
  readonly button: string;
  readonly children?: ReactNode;
  readonly onSure: () => Promise<unknown>;
  readonly onClose: () => void;
}) {
  const element = useRef<HTMLDivElement>(null);
  const guard = useGuard(element, title);
  const sure = () => void onSure().then(onClose);
  const onKey = (key: string) => {
    if (key === 'a') guard.key(sure);
  };
  return (
    <Dialog title={title} onClose={onClose} onKey={onKey}>
      <div ref={element} className="stack">
        {words === '' ? null : <p>{words}</p>}
        {children}
        <div className="dialog-foot">
          <GuardHint guard={guard} />
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" {...guard.press(sure, 'dialog')}>
            {button} <kbd className="mono">a</kbd>
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** An answer with words. */
export function TextDialog({
  ask,
  title,
  label,
  button,
  most,
  onText,
  onClose,
}: {
  /** Id of the ask. */
  readonly ask: string;
  readonly title: string;
  readonly label: string;
  readonly button: string;
  /** Characters. */
  readonly most: number;
  readonly onText: (text: string) => Promise<unknown>;
  readonly onClose: () => void;
}) {
  const draft = useAskDraft(ask, title);
  const { text } = draft.fields;
  const { refused, busy, send } = useWritten(() => {
    draft.sent();
    onClose();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void send(() => onText(text));
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <IsBack draft={draft} />
        <AreaField
          label={label}
          rows={5}
          maxLength={most}
          required
          value={text}
          onChange={(event) => draft.change({ text: event.target.value })}
          hint={`${text.length} of at most ${most} characters`}
        />
        {refused ? <NotTaken /> : null}
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button submit look="primary" busy={busy} disabled={text.trim() === ''}>
            {button}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
