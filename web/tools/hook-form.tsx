import type { HookShown } from '../../src/client/routes/tool-sources.ts';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { TextField } from '../parts/field.tsx';
import { useFormDraft } from '../parts/form-draft.tsx';
import { readMap } from './read-map.ts';
import { SourceForm } from './source-form.tsx';
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
  // What is changed is one version of it: another one is not overwritten with what was written over this.
  const draft = useFormDraft(hook === null ? 'hook' : `hook ${hook.name} ${hook.etag}`, {
    name: hook?.name ?? '',
    url: hook?.url ?? '',
    spec: hook?.spec ?? '',
    headers: (hook?.headers ?? []).join('\n'),
    inject: (hook?.inject ?? []).join('\n'),
    timeout: String(hook?.timeout_ms ?? 10_000),
    isPrivate: hook?.allow_private ?? false,
  });
  const { change } = draft;
  const { name, url, spec, headers, inject, timeout, isPrivate } = draft.fields;
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
  return (
    <SourceForm
      what="a hook"
      name={hook?.name ?? null}
      note="Nothing is fetched before you look at it or a run uses it."
      {...{ draft, save, onDone, onClose }}
    >
      {hook === null ? (
        <TextField label="Name" required value={name} onChange={(event) => change({ name: event.target.value })} />
      ) : null}
      <TextField label="URL" required value={url} onChange={(event) => change({ url: event.target.value })} />
      <TextField
        label="Description"
        value={spec}
        onChange={(event) => change({ spec: event.target.value })}
        hint="Empty: /openapi.json below the URL."
      />
      <MapField
        label="Headers"
        set={hook?.headers ?? []}
        value={headers}
        onChange={(text) => change({ headers: text })}
      />
      <MapField
        label="Injected arguments"
        set={hook?.inject ?? []}
        value={inject}
        onChange={(text) => change({ inject: text })}
      />
      <TextField
        label="Time limit in milliseconds"
        type="number"
        value={timeout}
        onChange={(event) => change({ timeout: event.target.value })}
      />
      <label className="row">
        <input type="checkbox" checked={isPrivate} onChange={(event) => change({ isPrivate: event.target.checked })} />
        It is in this machine’s own network
      </label>
    </SourceForm>
  );
}
