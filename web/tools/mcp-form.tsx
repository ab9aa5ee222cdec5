import type { McpServerShown } from '../../src/client/routes/tool-sources.ts';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { AreaField, SelectField, TextField } from '../parts/field.tsx';
import { useFormDraft } from '../parts/form-draft.tsx';
import { readMap } from './read-map.ts';
import { SourceForm } from './source-form.tsx';
import { MapField } from './source-parts.tsx';

const transports = [
  ['stdio', 'a program on this machine'],
  ['http', 'a service (HTTP)'],
  ['sse', 'a service (server-sent events)'],
] as const;
type Transport = (typeof transports)[number][0];

type Fields = Readonly<
  Record<'name' | 'command' | 'args' | 'url' | 'variable' | 'headers' | 'env' | 'inject', string>
> & { readonly transport: Transport; readonly pin: boolean };

/** Registers a tool server, or changes what may be changed of one: the fields of `reins mcp add`. */
export function McpForm({
  server,
  onDone,
  onClose,
}: {
  readonly server: McpServerShown | null;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) {
  // What is changed is one version of it: another one is not overwritten with what was written over this.
  const draft = useFormDraft<Fields>(server === null ? 'mcp' : `mcp ${server.name} ${server.etag}`, {
    name: '',
    transport: server?.transport ?? 'stdio',
    command: '',
    args: '',
    url: '',
    pin: false,
    variable: '',
    headers: (server?.headers ?? []).join('\n'),
    env: '',
    inject: (server?.inject ?? []).join('\n'),
  });
  const { change } = draft;
  const { name, transport, command, args, url, pin, variable, headers, env, inject } = draft.fields;
  const local = transport === 'stdio';
  const save = useAction(() => {
    const maps = {
      inject: readMap(inject),
      ...(local ? (env.trim() === '' ? {} : { env: readMap(env) }) : { headers: readMap(headers) }),
      ...(variable === '' ? {} : { auth_env: variable }),
    };
    if (server !== null) return client.patchMcpServer({ name: server.name, ...maps, if_match: `"${server.etag}"` });
    const words = args.split('\n').filter((line) => line !== '');
    return client.createMcpServer({
      name,
      transport,
      ...(local ? { command, args: words, pin_command: pin } : { url }),
      ...maps,
    });
  });
  return (
    <SourceForm
      what="an MCP server"
      name={server?.name ?? null}
      note="Nothing is started or contacted before you look at it or a run uses it."
      {...{ draft, save, onDone, onClose }}
    >
      {server === null ? (
        <>
          <TextField label="Name" required value={name} onChange={(event) => change({ name: event.target.value })} />
          <SelectField
            label="It is"
            value={transport}
            options={transports}
            // The options are these and no others.
            onChange={(event) => change({ transport: event.target.value as Transport })}
          />
          {local ? (
            <>
              <TextField
                label="Program"
                required
                value={command}
                onChange={(event) => change({ command: event.target.value })}
              />
              <AreaField
                label="Arguments, one a line"
                rows={3}
                value={args}
                onChange={(event) => change({ args: event.target.value })}
              />
              <label className="row">
                <input type="checkbox" checked={pin} onChange={(event) => change({ pin: event.target.checked })} />
                Refuse it when the program changes
              </label>
            </>
          ) : (
            <TextField label="URL" required value={url} onChange={(event) => change({ url: event.target.value })} />
          )}
        </>
      ) : null}
      {local ? (
        <MapField label="Variables" set={server?.env ?? []} value={env} onChange={(text) => change({ env: text })} />
      ) : (
        <>
          <MapField
            label="Headers"
            set={server?.headers ?? []}
            value={headers}
            onChange={(text) => change({ headers: text })}
          />
          <TextField
            label="Variable that holds its token"
            value={variable}
            onChange={(event) => change({ variable: event.target.value })}
          />
        </>
      )}
      <MapField
        label="Injected arguments"
        set={server?.inject ?? []}
        value={inject}
        onChange={(text) => change({ inject: text })}
      />
    </SourceForm>
  );
}
