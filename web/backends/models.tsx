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

/** Every model that a backend serves or that was declared, and which one is used where none is named. */
export function Models() {
  const [filter, setFilter] = useQuery('filter');
  const data = useData('models', () => client.pageModels({}), { topics: ['setup', 'documents'] });
  const choose = useAction(async (model: string) => {
    await client.putConfigItem({ key: 'default-model', value: model });
    announce(`${model} is the default model.`);
    data.reload();
    return true;
  });
  return (
    <div className="stack">
      <TextField label="Filter" data-filter="" value={filter} onChange={(event) => setFilter(event.target.value)} />
      {choose.error === null ? null : <ErrorNote error={choose.error} />}
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
                    cell: ({ model, is_default, can_chat }) =>
                      is_default || !can_chat ? null : (
                        <Button size="small" busy={choose.busy} onClick={() => void choose.run(model)}>
                          Make it the default<span className="sr">: {model}</span>
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
