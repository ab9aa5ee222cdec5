import { RuntimeError } from '../schema/errors.ts';
import type { Notice } from '../schema/event.ts';
import type { ToolServerRow, ToolServers } from '../store/tool-servers.ts';
import type { Connected, Connection } from '../tools/mcp/connection.ts';
import { readDefinition } from '../tools/mcp/definition.ts';
import type { Listing } from '../tools/mcp/listing.ts';
import { type McpServer, mcpTool } from '../tools/mcp/tool.ts';
import { refusingTool, type RunSources, type SourceTools } from '../tools/source.ts';
import type { Tool } from '../tools/tool.ts';
import { readTexts } from './backend-fields.ts';
import type { CommandPins } from './mcp-command-pin.ts';
import { credentialsOf } from './mcp-fields.ts';
import type { Launcher } from './mcp-launch.ts';
import { listedTools, type McpServers } from './mcp-servers.ts';
import { lastWords, sourceOf } from './mcp-view.ts';
import type { PinnedTool, Pins } from './pins.ts';
import type { Secrets } from './secrets.ts';
import { firstUse, quarantined, quarantinedText, sourceNotice, unavailable } from './source-notices.ts';

export type McpSourcesDeps = {
  readonly servers: Pick<McpServers, 'find'>;
  readonly store: Pick<ToolServers, 'noteError' | 'noteWords'>;
  readonly pins: Pins;
  readonly secrets: Secrets;
  readonly launch: Launcher;
  readonly commandPins: CommandPins;
  /** Where a server on this machine starts unless its record says otherwise. */
  readonly directory: string;
  /** Config `mcp-start-wait`, in milliseconds. */
  readonly startWaitMs: () => number;
  readonly now: () => number;
  /** Servers without which no run begins (06, `--require-mcp`). */
  readonly required: readonly string[];
};

/** A server as this process uses it, in all of its runs. */
type Used = {
  readonly row: ToolServerRow;
  readonly connection: Connection;
  readonly listeners: Set<(tools: SourceTools) => void>;
  /** What is to be told with the next list. */
  notices: Notice[];
};

/** The tools of registered servers for runs (05 §10.2): connected when they are wanted, and kept until this process ends. */
export function createMcpSources(deps: McpSourcesDeps) {
  const { pins, secrets } = deps;
  const used = new Map<string, Used>();

  const serverOf = (row: ToolServerRow, connection: Connection): McpServer => ({
    name: row.name,
    directory: row.transport === 'stdio' ? (row.cwd ?? deps.directory) : null,
    inject: readTexts(row.inject),
    credentials: credentialsOf(row),
    expand: secrets.expand,
    call: connection.call,
  });

  const toolOf = (one: Used, pinned: PinnedTool): Tool => {
    const definition = pinned.state === 'ready' ? readDefinition(pinned.definition) : null;
    const name = { tools: one.row.name, tool: pinned.tool };
    return definition === null
      ? refusingTool(name, 'quarantined', quarantinedText(sourceOf(one.row), pinned.tool))
      : { ...mcpTool(serverOf(one.row, one.connection), definition), origin: `mcp ${one.row.id} ${pinned.sha256}` };
  };

  /** Holds a list against the pins; what was said meanwhile goes with it. */
  const readyTools = (one: Used, listing: Listing): SourceTools => {
    const source = sourceOf(one.row);
    const pinned = pins.observe(source, listedTools(listing), 'first_use');
    const notices = [
      ...one.notices.splice(0),
      ...(pinned.firstUse ? [firstUse(source, pinned)] : []),
      ...quarantined(source, pinned),
    ];
    const tools = pinned.tools.map((tool) => toolOf(one, tool));
    return { name: one.row.name, tools, notices, server: { status: 'ready', error: null } };
  };

  const failedTools = (one: Used, connected: Extract<Connected, { kind: 'failed' }>): SourceTools => {
    const { name } = one.row;
    const reason = secrets.mask(connected.reason);
    const [error, mend] = refusalOf(one.row, connected);
    const message = `The server "${name}" cannot be used now: ${reason}. ${mend}`;
    const tools = pins
      .accepted(sourceOf(one.row))
      .map(({ tool }) => refusingTool({ tools: name, tool }, error, message));
    const said = connected.state === 'needs_auth' ? `nobody is signed in; reins mcp auth ${name}` : reason;
    const notices = [...one.notices.splice(0), unavailable(sourceOf(one.row), said)];
    return { name, tools, notices, server: { status: connected.state, error: said } };
  };

  /** The server as this process uses it. */
  const use = (row: ToolServerRow): Used => {
    const key = keyOf(row);
    const before = used.get(key);
    if (before !== undefined) return before;
    const tell = (listing: Listing): void => {
      if (made.listeners.size === 0) return;
      const tools = readyTools(made, listing);
      for (const listener of made.listeners) listener(tools);
    };
    const made: Used = {
      row,
      connection: deps.launch(row, {
        // What comes while it connects goes with its list; what comes later has no list to wait for.
        notice: (text) => {
          made.notices.push(mcpNotice(row, secrets.mask(text)));
          if (made.connection.state() === 'ready') tell(made.connection.listing());
        },
        listed: (listing) => {
          deps.store.noteError(row.id, null);
          tell(listing);
        },
      }),
      listeners: new Set(),
      notices: [],
    };
    used.set(key, made);
    return made;
  };

  const connect = async (one: Used): Promise<Connected> => {
    const change = await deps.commandPins.change(one.row);
    if (change !== null && one.row.pin_command === 0) {
      one.notices.push(mcpNotice(one.row, `${change}; reins mcp accept ${one.row.name} takes it`));
    }
    const connected = await one.connection.connect(false);
    if (connected.kind === 'failed') {
      deps.store.noteError(one.row.id, secrets.mask(connected.reason));
      deps.store.noteWords(one.row.id, lastWords(one.connection).map(secrets.mask), deps.now());
    }
    return connected;
  };

  /** What a server gives a run that begins; who is late is told of by `late`. */
  const open = async (one: Used, late: (tools: SourceTools) => void): Promise<SourceTools> => {
    const isRequired = deps.required.includes(one.row.name);
    const connecting = connect(one);
    const waitMs = isRequired ? one.row.connect_timeout_ms + 1_000 : deps.startWaitMs();
    const connected = await orLate(connecting, waitMs);
    if (isRequired && connected?.kind !== 'ready') {
      const reason = connected === null ? 'no answer' : secrets.mask(connected.reason);
      const { name } = one.row;
      const next = connected?.state === 'needs_auth' ? `reins mcp auth ${name}` : `reins mcp test ${name}`;
      throw new RuntimeError('setup_unhealthy', `the MCP server "${name}" is required and not ready: ${reason}`, {
        hints: [next],
      });
    }
    if (connected?.kind === 'ready') return readyTools(one, connected.listing);
    if (connected !== null) return failedTools(one, connected);
    const waits = Math.round(waitMs / 1000);
    void connecting.then((found) => {
      if (found.kind === 'failed') late(failedTools(one, found));
    });
    return failedTools(one, {
      kind: 'failed',
      state: 'failed',
      refused: false,
      reason: `it did not answer within ${waits} s`,
    });
  };

  return {
    /** @throws RuntimeError setup_unhealthy, when a required server is not ready */
    async open(names: readonly string[]): Promise<RunSources> {
      const waiting: SourceTools[] = [];
      let listener: ((tools: SourceTools) => void) | null = null;
      let closed = false;
      // A list that is read again says the same of the same tools: a run is told once.
      const said = new Set<string>();
      const unsaid = (tools: SourceTools): SourceTools => {
        const notices = tools.notices.filter(({ message }) => !said.has(message));
        for (const { message } of notices) said.add(message);
        return { ...tools, notices };
      };
      const tell = (tools: SourceTools): void => {
        if (closed) return;
        const fresh = unsaid(tools);
        if (listener === null) waiting.push(fresh);
        else listener(fresh);
      };
      const servers = names.map((name) => use(deps.servers.find(name)));
      const opened = (await Promise.all(servers.map((one) => open(one, tell)))).map(unsaid);
      const changed = servers.map((one, at) => {
        // A server that was late says so once it is there.
        let isLate = opened[at]?.notices.some(({ code }) => code === 'provider_unavailable') === true;
        const hear = (tools: SourceTools): void => {
          tell(isLate ? { ...tools, notices: [...tools.notices, ready(one.row)] } : tools);
          isLate = false;
        };
        one.listeners.add(hear);
        return () => one.listeners.delete(hear);
      });
      return {
        opened,
        onChange(given) {
          listener = given;
          for (const tools of waiting.splice(0)) given(tools);
        },
        close() {
          closed = true;
          for (const forget of changed) forget();
        },
      };
    },

    /** The connection of this process; null where no run has used the server yet. */
    connection: (row: ToolServerRow): Connection | null => used.get(keyOf(row))?.connection ?? null,

    /** Ends every connection; servers that do not listen are ended at the same time. */
    async close(): Promise<void> {
      await Promise.all([...used.values()].map(({ connection }) => connection.close()));
    },
  };
}

/** A changed record is another server. */
const keyOf = ({ id, updated_at }: ToolServerRow): string => `${id} ${updated_at}`;

/** The class of the refusal, and what mends it. */
function refusalOf(
  { name }: ToolServerRow,
  connected: Extract<Connected, { kind: 'failed' }>,
): readonly [string, string] {
  if (connected.state === 'needs_auth') return ['needs_auth', `The operator signs in with reins mcp auth ${name}.`];
  if (connected.refused) return ['auth_failed', `The operator looks at what is registered for ${name}.`];
  return ['unavailable', 'Go on without it.'];
}

/** @returns null when it has not come within the time */
function orLate<T>(promise: Promise<T>, ms: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

const mcpNotice = (row: ToolServerRow, text: string): Notice =>
  sourceNotice('warn', 'mcp_notice', sourceOf(row), `MCP server ${row.name}: ${text}.`);

const ready = (row: ToolServerRow): Notice =>
  sourceNotice('info', 'provider_ready', sourceOf(row), `The MCP server ${row.name} is ready now.`);
