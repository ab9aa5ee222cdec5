import { type FormEvent, useState } from 'react';
import type { HookShown } from '../../src/client/routes/tool-sources.ts';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { readMap } from './read-map.ts';
import { MapField } from './source-parts.tsx';

/** Registers a hook, or changes one: the fields of `reins hook add`. */
export function HookForm({
  hook,
  onDone,
  onClose,
}: {
  readonly hook: HookShown | null;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState(hook?.name ?? '');
  const [url, setUrl] = useState(hook?.url ?? '');
  const [spec, setSpec] = useState(hook?.spec ?? '');
  const [headers, setHeaders] = useState((hook?.headers ?? []).join('\n'));
  const [inject, setInject] = useState((hook?.inject ?? []).join('\n'));
  const [timeout, setTimeout] = useState(String(hook?.timeout_ms ?? 10_000));
  const [isPrivate, setPrivate] = useState(hook?.allow_private ?? false);
  const save = useAction(() => {
    const fields = {
      url,
      spec,
      headers: readMap(headers),
      inject: readMap(inject),
      timeout_ms: Number(timeout),
      ...(isPrivate ? { allow_private: true } : {}),
    };
    return hook === null
      ? client.createHook({ name, ...fields })
      : client.patchHook({ name, ...fields, allow_private: isPrivate, if_match: `"${hook.etag}"` });
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if ((await save.run()) !== null) onDone();
  };
  return (
    <Dialog title={hook === null ? 'Add a hook' : `Edit ${hook.name}`} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        {hook === null ? (
          <TextField label="Name" required value={name} onChange={(event) => setName(event.target.value)} />
        ) : null}
        <TextField label="URL" required value={url} onChange={(event) => setUrl(event.target.value)} />
        <TextField
          label="Description"
          value={spec}
          onChange={(event) => setSpec(event.target.value)}
          hint="Empty: /openapi.json below the URL."
        />
        <MapField label="Headers" set={hook?.headers ?? []} value={headers} onChange={setHeaders} />
        <MapField label="Injected arguments" set={hook?.inject ?? []} value={inject} onChange={setInject} />
        <TextField
          label="Time limit in milliseconds"
          type="number"
          value={timeout}
          onChange={(event) => setTimeout(event.target.value)}
        />
        <label className="row">
          <input type="checkbox" checked={isPrivate} onChange={(event) => setPrivate(event.target.checked)} />
          It is in this machine’s own network
        </label>
        <p className="small muted">Nothing is fetched before you look at it or a run uses it.</p>
        {save.error === null ? null : <ErrorNote error={save.error} />}
        <Button submit look="primary" busy={save.busy}>
          {hook === null ? 'Register' : 'Save'}
        </Button>
      </form>
    </Dialog>
  );
}
