import { useState } from 'react';
import { client } from '../data/client.ts';
import { formatCount } from '../../src/view/format.ts';
import { useAction, useData } from '../data/use-data.ts';
import { useQuery } from '../data/use-query.ts';
import { announce } from '../frame/announce.tsx';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/field.tsx';
import { Safe } from '../parts/safe.tsx';
import { Empty, ErrorNote, Loaded } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';

type Served = { readonly backend: string; readonly model: string };

/**
 * Makes a model what is asked where none is named, and at this backend: the default provider may keep it from being asked,
 * and is changed then. @returns what has become of it
 */
async function makeDefault({ backend, model }: Served): Promise<string> {
  await client.putConfigItem({ key: 'default-model', value: model });
  const askedNow = async () => (await client.pageModels({})).items.find(({ is_default: is }) => is)?.backend;
  if ((await askedNow()) === backend) return `${model} of ${backend} is the default model.`;
  const { type } = await client.getBackend({ name: backend });
  await client.putConfigItem({ key: 'default-provider', value: type });
  const other = await askedNow();
  return other === backend
    ? `${model} of ${backend} is the default model, and ${type} the default provider.`
    : `${model} is the default model; of the ${type} backends ${other ?? 'another'} is asked for it first.`;
}

/** Every model that a backend serves or that was declared, and which one is used where none is named. */
export function Models() {
  const [filter, setFilter] = useQuery('filter');
  const data = useData('models', () => client.pageModels({}), { topics: ['setup', 'documents'] });
  const [said, say] = useState('');
  const choose = useAction(async (wanted: Served) => {
    const words = await makeDefault(wanted);
    announce(words);
    say(words);
    data.reload();
    return true;
  });
  return (
    <div className="stack">
      <TextField label="Filter" data-filter="" value={filter} onChange={(event) => setFilter(event.target.value)} />
      {choose.error === null ? null : <ErrorNote error={choose.error} />}
      {said === '' ? null : (
        <p className="note wrap">
          <Safe text={said} />
        </p>
      )}
      <Loaded data={data}>
        {({ items, errors }) => (
          <>
            {errors.map(({ backend, message }) => (
              <p key={backend} className="note warn wrap">
                <Safe text={backend} />: <Safe text={message} />
              </p>
            ))}
            {items.length === 0 ? (
              <Empty>No backend serves a model.</Empty>
            ) : (
              <Table
                caption="Models"
                rows={items.filter(({ model }) => model.toLowerCase().includes(filter.toLowerCase()))}
                keyOf={({ backend, model }) => `${backend} ${model}`}
                columns={[
                  {
                    label: 'Model',
                    cell: ({ model, is_default }) => (
                      <span className="mono wrap">
                        <Safe text={model} /> {is_default ? '★' : ''}
                        {is_default ? <span className="sr"> (default)</span> : null}
                      </span>
                    ),
                  },
                  { label: 'Backend', cell: ({ backend }) => <Safe text={backend} /> },
                  {
                    label: 'Context',
                    right: true,
                    cell: ({ context_length }) => (context_length === null ? 'unknown' : formatCount(context_length)),
                  },
                  {
                    label: 'Can',
                    cell: ({ can_chat, can_tools, can_embed }) =>
                      [can_chat ? 'chat' : '', can_tools ? 'tools' : '', can_embed ? 'embed' : '']
                        .filter((word) => word !== '')
                        .join(', ') || '—',
                  },
                  {
                    label: 'Change',
                    unseen: true,
                    right: true,
                    cell: ({ backend, model, is_default, can_chat }) =>
                      is_default || !can_chat ? null : (
                        <Button size="small" busy={choose.busy} onClick={() => void choose.run({ backend, model })}>
                          Make it the default
                          <span className="sr">
                            : {model} of {backend}
                          </span>
                        </Button>
                      ),
                  },
                ]}
              />
            )}
          </>
        )}
      </Loaded>
    </div>
  );
}
