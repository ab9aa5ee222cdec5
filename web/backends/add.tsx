import { type FormEvent, useState } from 'react';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { announce } from '../frame/announce.tsx';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { SelectField, TextField } from '../parts/field.tsx';
import { IsBack, useFormDraft } from '../parts/form-draft.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { kinds } from './kinds.ts';

type Fields = {
  readonly type: (typeof kinds)[number]['type'];
  readonly name: string;
  /** Null: as its type has it. */
  readonly url: string | null;
  readonly variable: string | null;
  readonly stored: boolean;
};
const blank: Fields = { type: kinds[0]?.type ?? 'ollama', name: '', url: null, variable: null, stored: false };

/** Registers a backend: its type first, then what that type needs. */
export function AddBackend({ onAdded, onClose }: { readonly onAdded: () => void; readonly onClose: () => void }) {
  const draft = useFormDraft('backend', blank);
  const { type, name, url, variable, stored } = draft.fields;
  const kind = kinds.find((one) => one.type === type);
  // A key is kept nowhere but in what it was typed into.
  const [literal, setLiteral] = useState('');
  const address = url ?? kind?.url ?? '';
  const keyName = variable ?? kind?.keyVariable ?? '';
  const add = useAction(() =>
    client.createBackend({
      name: name.trim() === '' ? type : name.trim(),
      type,
      ...(address === '' ? {} : { base_url: address }),
      ...(kind?.keyVariable === null
        ? {}
        : stored
          ? { api_key: literal }
          : keyName === ''
            ? {}
            : { api_key_env: keyName }),
    }),
  );
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const made = await add.run();
    if (made === null) return;
    draft.sent();
    announce(`${made.name} is registered.`);
    onAdded();
    onClose();
  };
  return (
    <Dialog title="Add a backend" onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <IsBack draft={draft} />
        <SelectField
          label="Type"
          value={type}
          options={kinds.map((one) => [one.type, one.words] as const)}
          onChange={(event) => {
            const chosen = kinds.find((one) => one.type === event.target.value);
            if (chosen !== undefined) draft.change({ type: chosen.type, url: null, variable: null });
          }}
        />
        <TextField
          label="Name"
          value={name}
          placeholder={type}
          onChange={(event) => draft.change({ name: event.target.value })}
        />
        {kind?.url === null ? null : (
          <TextField
            label={kind?.urlWords ?? 'Address'}
            value={address}
            required
            onChange={(event) => draft.change({ url: event.target.value })}
          />
        )}
        {kind?.keyVariable === null ? null : stored ? (
          <TextField
            label="Key"
            type="password"
            autoComplete="off"
            value={literal}
            onChange={(event) => setLiteral(event.target.value)}
            hint="It is written into the database of this workspace and never shown again."
          />
        ) : (
          <TextField
            label="Variable that holds the key"
            value={keyName}
            onChange={(event) => draft.change({ variable: event.target.value })}
            hint="Its name, of the environment that this server was started in. The key itself is not stored."
          />
        )}
        {kind?.keyVariable === null ? null : (
          <label className="row small">
            <input
              type="checkbox"
              checked={stored}
              onChange={(event) => draft.change({ stored: event.target.checked })}
            />
            Store the key in the database (not recommended)
          </label>
        )}
        {add.error === null ? null : <ErrorNote error={add.error} />}
        <Button submit look="primary" busy={add.busy}>
          Register
        </Button>
      </form>
    </Dialog>
  );
}
