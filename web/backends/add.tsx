import { type FormEvent, useState } from 'react';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { announce } from '../frame/announce.tsx';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { SelectField, TextField } from '../parts/field.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { kinds } from './kinds.ts';

/** Registers a backend: its type first, then what that type needs. */
export function AddBackend({ onAdded, onClose }: { readonly onAdded: () => void; readonly onClose: () => void }) {
  const [type, setType] = useState(kinds[0]?.type ?? 'ollama');
  const kind = kinds.find((one) => one.type === type);
  const [name, setName] = useState('');
  const [url, setUrl] = useState<string | null>(null);
  const [variable, setVariable] = useState<string | null>(null);
  const [literal, setLiteral] = useState('');
  const [stored, setStored] = useState(false);
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
    announce(`${made.name} is registered.`);
    onAdded();
    onClose();
  };
  return (
    <Dialog title="Add a backend" onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <SelectField
          label="Type"
          value={type}
          options={kinds.map((one) => [one.type, one.words] as const)}
          onChange={(event) => {
            const chosen = kinds.find((one) => one.type === event.target.value);
            if (chosen === undefined) return;
            setType(chosen.type);
            setUrl(null);
            setVariable(null);
          }}
        />
        <TextField label="Name" value={name} placeholder={type} onChange={(event) => setName(event.target.value)} />
        {kind?.url === null ? null : (
          <TextField
            label={kind?.urlWords ?? 'Address'}
            value={address}
            required
            onChange={(event) => setUrl(event.target.value)}
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
            onChange={(event) => setVariable(event.target.value)}
            hint="Its name, of the environment that this server was started in. The key itself is not stored."
          />
        )}
        {kind?.keyVariable === null ? null : (
          <label className="row small">
            <input type="checkbox" checked={stored} onChange={(event) => setStored(event.target.checked)} />
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
