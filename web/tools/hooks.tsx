import type { HookShown } from '../../src/client/routes/tool-sources.ts';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { Safe } from '../parts/safe.tsx';
import { HookForm } from './hook-form.tsx';
import { SourceList } from './source-list.tsx';
import { SourcePanel, useSourceAction } from './source-panel.tsx';

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
  const action = useSourceAction(() => {
    reload();
    whole.reload();
  });
  return (
    <SourcePanel
      name={name}
      state={state === 'idle' ? 'not looked at yet' : state}
      look={looks[state]}
      tools={tools}
      drift={whole.value?.drift ?? []}
      action={action}
      accept={(accepted) =>
        client.postHookAccept({ name, definition_sha256: definition_sha256 ?? '', tools: accepted })
      }
      remove={() => client.deleteHook({ name, if_match: `"${etag}"` })}
      onEdit={onEdit}
      check="Look at it now"
      onCheck={() => void action.run(() => client.postHookRefresh({ name }))}
    >
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
    </SourcePanel>
  );
}
