import { useState } from 'react';
import type { McpServerShown } from '../../src/client/routes/tool-sources.ts';
import { client } from '../data/client.ts';
import { useAction } from '../data/use-data.ts';
import { AreaField, SelectField, TextField } from '../parts/field.tsx';
import { useFormDraft } from '../parts/form-draft.tsx';
import { type AuthFields, AuthPart, authOf, authSaid } from './mcp-auth.tsx';
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
  Record<'name' | 'command' | 'args' | 'cwd' | 'url' | 'headers' | 'env' | 'inject' | 'connectMs' | 'callMs', string>
> & { readonly transport: Transport; readonly pin: boolean } & AuthFields;

/** A limit that differs from what is registered; the server says where one is no number or out of bounds. */
const limit = (name: 'connect_timeout_ms' | 'call_timeout_ms', text: string, before: number | undefined) =>
  text.trim() === '' || Number(text) === before ? {} : { [name]: Number(text) };

/** A variable without a value is no kept one, as in the other maps: it is passed on from the operator (05 §10.1). */
const envHint = (set: readonly string[]): string =>
  set.length === 0
    ? 'One a line: Name: value. Values are never shown again. A name alone passes on the variable of this server’s environment.'
    : `Set: ${set.join(', ')}. Left empty they stay; what is written here replaces all of them. A name alone passes on the variable of this server’s environment.`;

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
    cwd: '',
    url: '',
    pin: false,
    headers: (server?.headers ?? []).join('\n'),
    env: '',
    inject: (server?.inject ?? []).join('\n'),
    connectMs: String(server?.connect_timeout_ms ?? ''),
    callMs: String(server?.call_timeout_ms ?? ''),
    ...authOf(server),
  });
  const { change, fields } = draft;
  const { name, transport, command, args, cwd, url, pin, headers, env, inject, connectMs, callMs } = fields;
  const local = transport === 'stdio';
  const [token, setToken] = useState('');
  const save = useAction(() => {
    const said = {
      inject: readMap(inject),
      ...(local
        ? env.trim() === ''
          ? {}
          : { env: readMap(env) }
        : { headers: readMap(headers), ...authSaid(fields, token, server) }),
      ...limit('connect_timeout_ms', connectMs, server?.connect_timeout_ms),
      ...limit('call_timeout_ms', callMs, server?.call_timeout_ms),
    };
    if (server !== null) return client.patchMcpServer({ name: server.name, ...said, if_match: `"${server.etag}"` });
    const words = args.split('\n').filter((line) => line !== '');
    const program = { command, args: words, pin_command: pin, ...(cwd.trim() === '' ? {} : { cwd: cwd.trim() }) };
    return client.createMcpServer({ name, transport, ...(local ? program : { url }), ...said });
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
              <TextField
                label="Directory to start it in"
                value={cwd}
                onChange={(event) => change({ cwd: event.target.value })}
                hint="Empty: the workspace."
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
        <MapField
          label="Variables"
          hint={envHint(server?.env ?? [])}
          value={env}
          onChange={(text) => change({ env: text })}
        />
      ) : (
        <>
          <AuthPart
            fields={fields}
            change={change}
            token={token}
            onToken={setToken}
            isSet={server?.token_source === 'stored'}
          />
          <MapField
            label="Headers"
            set={server?.headers ?? []}
            value={headers}
            onChange={(text) => change({ headers: text })}
          />
        </>
      )}
      <MapField
        label="Injected arguments"
        set={server?.inject ?? []}
        value={inject}
        onChange={(text) => change({ inject: text })}
      />
      <div className="two">
        <TextField
          label="Limit of connecting in milliseconds"
          type="number"
          placeholder="30000"
          value={connectMs}
          onChange={(event) => change({ connectMs: event.target.value })}
        />
        <TextField
          label="Limit of one call in milliseconds"
          type="number"
          placeholder="120000"
          value={callMs}
          onChange={(event) => change({ callMs: event.target.value })}
        />
      </div>
    </SourceForm>
  );
}
