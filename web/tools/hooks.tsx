import type { HookShown } from '../../src/client/routes/tool-sources.ts';
import { client } from '../data/client.ts';
import { useAction, useData } from '../data/use-data.ts';
import { Button, SureButton } from '../parts/button.tsx';
import { Safe } from '../parts/safe.tsx';
import { ErrorNote } from '../parts/states.tsx';
import { HookForm } from './hook-form.tsx';
import { SourceList } from './source-list.tsx';
import { DriftList, SourceTools } from './source-parts.tsx';
import '../styles/tools.css';

const looks = { ready: 'good', quarantined: 'danger', unavailable: 'danger', idle: '' } as const;

/** Services with an OpenAPI description, whose operations are tools. */
export function Hooks() {
  return (
    <SourceList
      data={useData('hooks', () => client.pageHooks({}), { topics: ['setup', 'documents'] })}
      add="Add a hook…"
      none="A hook makes the operations of an HTTP service tools of your runs."
      row={(hook, onEdit, reload) => <Hook key={hook.name} hook={hook} onEdit={onEdit} reload={reload} />}
      form={(hook, onClose, onDone) => <HookForm hook={hook} onClose={onClose} onDone={onDone} />}
    />
  );
}

function Hook({
  hook,
  onEdit,
  reload,
}: {
  readonly hook: HookShown;
  readonly onEdit: () => void;
  readonly reload: () => void;
}) {
  const { name, url, state, headers, inject, tools, last_error, definition_sha256, etag } = hook;
  // A listing leaves the definitions out; they are read with the one that is looked at, and again when one was accepted.
  const waiting = tools.filter((tool) => tool.state === 'quarantined').map(({ tool }) => tool);
  const whole = useData(`hook ${name} ${etag} ${definition_sha256 ?? ''} ${state} ${waiting.join()}`, () =>
    client.getHook({ name }),
  );
  const act = useAction(async (what: () => Promise<unknown>) => {
    try {
      await what();
      return true;
    } finally {
      // A refusal, too, may come of what is another now than is shown: what was accepted has changed again.
      reload();
      whole.reload();
    }
  });
  return (
    <section className="panel stack tight" aria-label={name}>
      <div className="row spread">
        <h2>
          <Safe text={name} />
        </h2>
        <span className={`tag ${looks[state]}`}>{state === 'idle' ? 'not looked at yet' : state}</span>
      </div>
      <p className="mono wrap">
        <Safe text={url} />
      </p>
      {headers.length + inject.length === 0 ? null : (
        <p className="small muted">
          {headers.map((header) => `${header}: set`).join(', ')}
          {headers.length > 0 && inject.length > 0 ? '; ' : ''}
          {inject.length === 0 ? '' : `injected: ${inject.join(', ')}`}
        </p>
      )}
      {last_error === null ? null : (
        <p className="note danger wrap">
          <Safe text={last_error} />
        </p>
      )}
      {act.error === null ? null : <ErrorNote error={act.error} />}
      <SourceTools tools={tools} />
      <DriftList
        drift={whole.value?.drift ?? []}
        busy={act.busy}
        onAccept={(accepted) =>
          void act.run(() =>
            client.postHookAccept({ name, definition_sha256: definition_sha256 ?? '', tools: [...accepted] }),
          )
        }
      />
      <div className="row">
        <Button busy={act.busy} onClick={() => void act.run(() => client.postHookRefresh({ name }))}>
          Look at it now
        </Button>
        <Button onClick={onEdit}>Edit…</Button>
        <SureButton
          word="Remove"
          sureWord="Really remove it?"
          busy={act.busy}
          onSure={() => void act.run(() => client.deleteHook({ name, if_match: `"${etag}"` }))}
        />
      </div>
    </section>
  );
}
