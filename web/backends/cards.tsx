import type { Known } from '../../src/schema/shape.ts';
import type { BackendState } from '../../src/client/routes/backends.ts';
import { knowsModels, modelsNotAsked } from '../../src/view/known-models.ts';
import { client } from '../data/client.ts';
import { useAction, useData } from '../data/use-data.ts';
import { announce } from '../frame/announce.tsx';
import { Button, SureButton } from '../parts/button.tsx';
import { Fact } from '../parts/fact.tsx';
import { Safe } from '../parts/safe.tsx';
import { Empty, ErrorNote, Loaded } from '../parts/states.tsx';

type State = Known<typeof BackendState>;
const looks = { ready: 'good', pending: '', error: 'danger' } as const;
const words = { ready: 'ready', pending: 'not asked yet', error: 'does not answer' } as const;

/** A card for each backend: how it is reached, where its key comes from, how it is. */
export function BackendCards({ onAdd }: { readonly onAdd: () => void }) {
  const data = useData('backends', () => client.pageBackends({}), { topics: ['setup', 'documents'] });
  const config = useData('default-provider', () => client.getConfigItem({ key: 'default-provider' }), {
    topics: ['setup', 'documents'],
  });
  return (
    <Loaded data={data}>
      {(rows) =>
        rows.length === 0 ? (
          <Empty action={<Button onClick={onAdd}>Add a backend…</Button>}>
            A backend is where models are asked: a service, or a program on this machine.
          </Empty>
        ) : (
          <ul className="backend-cards" aria-label="Backends">
            {rows.map((row) => (
              <Card
                key={row.id}
                row={row}
                isDefault={config.value?.value === row.type || config.value?.value === row.name}
                reload={() => {
                  data.reload();
                  config.reload();
                }}
              />
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}

function Card({
  row,
  isDefault,
  reload,
}: {
  readonly row: State;
  readonly isDefault: boolean;
  readonly reload: () => void;
}) {
  const { name, type, base_url, key_source, key_present, status, error, hint, model_count, latency_ms, etag } = row;
  const act = useAction(async (what: () => Promise<unknown>, said: string) => {
    await what();
    announce(said);
    reload();
    return true;
  });
  return (
    <li className="panel stack tight">
      <div className="row spread">
        <h2>
          <Safe text={name} /> {isDefault ? <span title="default provider">★</span> : null}
          {isDefault ? <span className="sr"> (default provider)</span> : null}
        </h2>
        <span className={`tag ${looks[status]}`}>{words[status]}</span>
      </div>
      <dl className="facts">
        <Fact label="Type">{type}</Fact>
        <div className="facts-row">
          <dt>Address</dt>
          <dd className="mono">{base_url === '' ? 'of the service' : <Safe text={base_url} />}</dd>
        </div>
        <Fact label="Key">
          {key_source === 'none' ? (
            'none'
          ) : key_source.startsWith('env:') ? (
            <>
              <span className="mono">{key_source.slice(4)}</span>, {key_present ? 'which is set' : 'which is not set'}
            </>
          ) : (
            'stored in the database'
          )}
        </Fact>
        <Fact label="Models">
          {status !== 'ready' ? 'not known' : knowsModels(model_count, latency_ms) ? model_count : modelsNotAsked}
          {latency_ms === null ? '' : `, answered in ${latency_ms} ms`}
        </Fact>
      </dl>
      {error === null ? null : (
        <div className="note danger wrap stack tight">
          <p>
            <Safe text={error} />
          </p>
          {hint === null ? null : (
            <p className="small">
              <Safe text={hint} />
            </p>
          )}
        </div>
      )}
      {act.error === null ? null : <ErrorNote error={act.error} />}
      <div className="row">
        <Button busy={act.busy} onClick={() => void act.run(() => client.checkBackend({ name }), `${name} was asked.`)}>
          Check now
        </Button>
        {isDefault ? null : (
          <Button
            busy={act.busy}
            onClick={() =>
              void act.run(
                () => client.putConfigItem({ key: 'default-provider', value: type }),
                `${type} is the default provider.`,
              )
            }
          >
            Make it the default
          </Button>
        )}
        {etag === 'builtin' ? (
          <span className="muted small">built in</span>
        ) : (
          <SureButton
            word="Remove"
            sureWord="Really remove it?"
            busy={act.busy}
            onSure={() =>
              void act.run(() => client.deleteBackend({ name, if_match: `"${etag}"` }), `${name} is removed.`)
            }
          />
        )}
      </div>
    </li>
  );
}
