import { type FormEvent, useEffect, useRef, useState } from 'react';
import type { ConfigItem } from '../../src/client/routes/system.ts';
import { client } from '../data/client.ts';
import { letterKeys } from '../data/kept.ts';
import { useStore } from '../data/store.ts';
import { useAction, useData } from '../data/use-data.ts';
import { useQuery } from '../data/use-query.ts';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/field.tsx';
import { Safe } from '../parts/safe.tsx';
import { Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';

const sources = {
  set: 'set',
  default: 'built in',
  unset: 'not set',
  flag: 'a flag of this server',
  env: 'a variable of this server',
} as const;

/** Every setting with its value and where that comes from; each can be changed in its row. */
export function Config() {
  const data = useData('config', () => client.pageConfig({}), { topics: ['setup', 'documents'] });
  const [filter, setFilter] = useQuery('filter');
  const [editing, setEditing] = useState<string | null>(null);
  /** Whose button takes the focus back when it is there again. */
  const edited = useRef<string | null>(null);
  const keys = useStore(letterKeys);
  return (
    <div className="stack">
      <label className="row">
        <input
          type="checkbox"
          checked={keys === 'on'}
          onChange={(event) => letterKeys.set(event.target.checked ? 'on' : 'off')}
        />
        Single letters are keys in this browser
      </label>
      <TextField label="Filter" data-filter="" value={filter} onChange={(event) => setFilter(event.target.value)} />
      <Loaded data={data}>
        {(items) => (
          <Table
            caption="Configuration"
            rows={items.filter(({ key, description }) =>
              `${key} ${description}`.toLowerCase().includes(filter.toLowerCase()),
            )}
            keyOf={({ key }) => key}
            columns={[
              {
                label: 'Key',
                cell: ({ key, description }) => (
                  <span className="stack tight">
                    <span className="mono">{key}</span>
                    <span className="small muted">{description}</span>
                  </span>
                ),
              },
              {
                label: 'Value',
                cell: (item) =>
                  editing === item.key ? (
                    <Edit
                      item={item}
                      onDone={() => {
                        setEditing(null);
                        edited.current = item.key;
                        data.reload();
                      }}
                    />
                  ) : (
                    <span className="mono wrap">{item.value === '' ? '—' : <Safe text={item.value} />}</span>
                  ),
              },
              { label: 'From', cell: ({ source }) => <span className="tag">{sources[source]}</span> },
              {
                label: 'Change',
                unseen: true,
                right: true,
                cell: ({ key }) =>
                  editing === key ? null : (
                    <Button
                      size="small"
                      ref={(button) => {
                        if (button === null || edited.current !== key) return;
                        edited.current = null;
                        button.focus();
                      }}
                      onClick={() => setEditing(key)}
                    >
                      Change<span className="sr"> {key}</span>
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </div>
  );
}

function Edit({ item, onDone }: { readonly item: ConfigItem; readonly onDone: () => void }) {
  const [value, setValue] = useState(item.value);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const save = useAction(() => client.putConfigItem({ key: item.key, value }));
  const reset = useAction(() => client.deleteConfigItem({ key: item.key }));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if ((await save.run()) !== null) onDone();
  };
  return (
    <form className="stack tight" onSubmit={(event) => void submit(event)}>
      <TextField
        ref={field}
        label={<span className="sr">New value of {item.key}</span>}
        value={value}
        onChange={(event) => setValue(event.target.value)}
        hint={`built in: ${item.default === '' ? 'nothing' : item.default}`}
      />
      {(save.error ?? reset.error) === null ? null : (
        <p className="fault" role="alert">
          {(save.error ?? reset.error)?.message}
        </p>
      )}
      <div className="row">
        <Button submit size="small" look="primary" busy={save.busy}>
          Save
        </Button>
        {item.source === 'set' ? (
          <Button
            size="small"
            busy={reset.busy}
            onClick={() => void reset.run().then((done) => done !== null && onDone())}
          >
            Back to built in
          </Button>
        ) : null}
        <Button size="small" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
