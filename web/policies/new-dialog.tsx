import type { FormEvent } from 'react';
import { useLocation } from 'wouter';
import { pathOfFile } from '../data/document-path.ts';
import { leaveDraft } from '../editor/use-draft.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { IsBack, useFormDraft } from '../parts/form-draft.tsx';
import { isDocumentName } from '../../src/schema/document-name.ts';

const fresh = `${JSON.stringify({ default_action: 'approve', rules: [] }, null, 2)}\n`;

/** Asks for the name of a policy and opens the editor with a text. Nothing is written before it is saved. */
export function NewPolicyDialog({
  title = 'New policy',
  from,
  onOpened,
  onClose,
}: {
  readonly title?: string;
  /** The text and the name to begin with; null = an empty policy that asks for everything. */
  readonly from: { readonly text: string; readonly name: string } | null;
  readonly onOpened?: () => void;
  readonly onClose: () => void;
}) {
  const draft = useFormDraft(`${title} ${from?.name ?? ''}`, { wanted: from?.name ?? '' });
  const { wanted } = draft.fields;
  const [, navigate] = useLocation();
  const good = isDocumentName(wanted);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const file = `hitl-policy-${wanted}.json`;
    leaveDraft(`policy:new:${file}`, from?.text ?? fresh);
    draft.sent();
    onOpened?.();
    onClose();
    navigate(`/policies/${pathOfFile(file)}?new=1`);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <IsBack draft={draft} />
        <TextField
          label="Name"
          value={wanted}
          onChange={(event) => draft.change({ wanted: event.target.value })}
          hint="Small letters, digits, - and _. Runs name it with --policy."
          fault={wanted !== '' && !good ? 'That cannot be the name of a policy.' : null}
        />
        <Button submit look="primary" disabled={!good}>
          Open the editor
        </Button>
      </form>
    </Dialog>
  );
}
