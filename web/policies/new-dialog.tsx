import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { pathOfFile } from '../data/document-path.ts';
import { leaveDraft } from '../editor/use-draft.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';

const fresh = `${JSON.stringify({ default_action: 'approve', rules: [] }, null, 2)}\n`;
const name = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** Asks for the name of a policy and opens the editor with a text. Nothing is written before it is saved. */
export function NewPolicyDialog({
  title = 'New policy',
  from,
  onClose,
}: {
  readonly title?: string;
  /** The text and the name to begin with; null = an empty policy that asks for everything. */
  readonly from: { readonly text: string; readonly name: string } | null;
  readonly onClose: () => void;
}) {
  const [wanted, setWanted] = useState(from?.name ?? '');
  const [, navigate] = useLocation();
  const good = name.test(wanted);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const file = `hitl-policy-${wanted}.json`;
    leaveDraft(`policy:new:${file}`, from?.text ?? fresh);
    onClose();
    navigate(`/policies/${pathOfFile(file)}?new=1`);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Name"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
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
