import { useState } from 'react';
import type { McpServerShown } from '../../src/client/routes/tool-sources.ts';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { Button, CopyButton } from '../parts/button.tsx';
import { CodeBlock } from '../parts/code-block.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Safe } from '../parts/safe.tsx';
import { McpForm } from './mcp-form.tsx';
import { SourceList } from './source-list.tsx';
import { SourcePanel, useSourceAction } from './source-panel.tsx';

const looks: Readonly<Record<McpServerShown['state'], string>> = {
  idle: '',
  connecting: '',
  ready: 'good',
  needs_auth: 'warn',
  failed: 'danger',
  quarantined: 'danger',
  stopped: '',
};

/** Programs and services that speak the Model Context Protocol. */
export function McpServers() {
  return (
    <SourceList
      data={useData('mcp servers', () => client.pageMcpServers({}), { topics: ['setup', 'documents'] })}
      add="Add a server…"
      none="An MCP server is a program or a service that brings tools of its own."
      row={(server, onEdit, reload) => <Server key={server.name} server={server} onEdit={onEdit} reload={reload} />}
      form={(server, onClose, onDone) => <McpForm server={server} onClose={onClose} onDone={onDone} />}
    />
  );
}

/** The exact words that a server is started with. */
const argvOf = ({ command, args }: McpServerShown): string => JSON.stringify([command ?? '', ...args]);

function Server({
  server,
  onEdit,
  reload,
}: {
  readonly server: McpServerShown;
  readonly onEdit: () => void;
  readonly reload: () => void;
}) {
  const { name, transport, url, state, env, headers, inject, tools, drift, last_error, definition_sha256, etag } =
    server;
  const [starting, setStarting] = useState(false);
  const [notices, setNotices] = useState<readonly string[]>([]);
  const action = useSourceAction(reload);
  const check = async () => {
    const checked = await client.postMcpCheck({ name });
    setNotices(checked.reason === null ? checked.notices : [checked.reason, ...checked.notices]);
  };
  const set = [
    ...headers.map((one) => `${one}: set`),
    ...env.map((one) => `${one}: set`),
    ...inject.map((one) => `${one}: set`),
  ];
  return (
    <SourcePanel
      name={name}
      state={state === 'idle' ? (tools.length === 0 ? 'not looked at yet' : 'looked at') : state.replace('_', ' ')}
      look={looks[state]}
      tools={tools}
      drift={drift}
      action={action}
      accept={(accepted) => client.postMcpAccept({ name, definition_sha256, tools: accepted })}
      remove={() => client.deleteMcpServer({ name, if_match: `"${etag}"` })}
      onEdit={onEdit}
      check={transport === 'stdio' ? 'Start and look…' : 'Look at it now'}
      onCheck={() => (transport === 'stdio' ? setStarting(true) : void action.run(check))}
    >
      {transport === 'stdio' ? (
        <CodeBlock text={argvOf(server)} label={`Command of ${name}`} />
      ) : (
        <p className="mono wrap">
          <Safe text={url ?? ''} />
        </p>
      )}
      {server.command_changed ? <p className="note danger">The program is not one that was accepted here.</p> : null}
      {state === 'needs_auth' ? (
        <p className="row small">
          <span>Sign in in a terminal:</span> <code className="wrap">reins mcp auth {name}</code>
          <CopyButton text={`reins mcp auth ${name}`} />
        </p>
      ) : null}
      {set.length === 0 ? null : <p className="small muted">{set.join(', ')}</p>}
      {[...(last_error === null ? [] : [last_error]), ...notices].map((line) => (
        <p key={line} className="note warn wrap">
          <Safe text={line} />
        </p>
      ))}
      {starting ? (
        <Dialog
          title={`Start ${name}?`}
          onClose={() => setStarting(false)}
          foot={
            <Button
              look="primary"
              onClick={() => {
                setStarting(false);
                void action.run(check);
              }}
            >
              Start it
            </Button>
          }
        >
          <p>This program is started on this machine, with your rights, exactly so:</p>
          <CodeBlock text={argvOf(server)} label="The command" />
        </Dialog>
      ) : null}
    </SourcePanel>
  );
}
