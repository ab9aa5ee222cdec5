import type { Command, Flag } from '../command.ts';

const newServer = { name: 'name', required: true, help: 'Name of the server.' } as const;
const serverArgument = { ...newServer, candidates: 'mcp' } as const;
const newHook = { name: 'name', required: true, help: 'Name of the hook.' } as const;
const hookArgument = { ...newHook, candidates: 'hook' } as const;

const inject: Flag = {
  name: 'inject',
  kind: 'list',
  value: 'k=v',
  help: 'Argument added to every call, hidden from models.',
};
const header: Flag = { name: 'header', kind: 'list', value: 'K: V', help: 'HTTP header sent on every call.' };
const probe: Flag = {
  name: 'probe',
  kind: 'boolean',
  negative: true,
  help: 'Register only; contact and start nothing.',
};
const acceptFlags: readonly Flag[] = [
  { name: 'tool', kind: 'list', value: 't', help: 'Only this tool.' },
  { name: 'yes', kind: 'boolean', help: 'Do not ask.' },
];
const hookFields: readonly Flag[] = [
  header,
  inject,
  {
    name: 'timeout',
    kind: 'int',
    value: 'ms',
    min: 100,
    max: 600_000,
    default: '10000',
    help: 'Limit of one request.',
  },
  { name: 'spec', kind: 'string', value: 'url|path', help: 'Where the service is described.' },
];

const hook: Command = {
  name: 'hook',
  purpose: 'Register OpenAPI services as tools.',
  examples: ['reins hook add nws --url https://api.weather.gov', 'reins hook list'],
  commands: [
    {
      name: 'add',
      module: 'hook',
      purpose: 'Register an OpenAPI service.',
      arguments: [newHook],
      flags: [
        { name: 'url', kind: 'string', value: 'url', help: 'Base URL of the service. Required.' },
        ...hookFields,
        probe,
      ],
      examples: [
        'reins hook add nws --url https://api.weather.gov --header "User-Agent: me"',
        'reins hook add nws --url https://api.weather.gov --inject units=si',
      ],
      insideTool: 'refused',
    },
    {
      name: 'list',
      module: 'hook',
      aliases: ['ls'],
      purpose: 'List the hooks.',
      examples: ['reins hook list', 'reins hook list --json'],
    },
    {
      name: 'show',
      module: 'hook',
      purpose: 'Show a hook and its tools; values are never shown.',
      arguments: [hookArgument],
      examples: ['reins hook show nws', 'reins hook show nws --json'],
    },
    {
      name: 'update',
      module: 'hook',
      purpose: 'Change a hook; each map is replaced whole.',
      arguments: [hookArgument],
      flags: [
        { name: 'url', kind: 'string', value: 'url', help: 'Base URL of the service.' },
        ...hookFields,
        { name: 'allow-private', kind: 'boolean', help: 'Its host may lie in a private network.' },
      ],
      examples: ['reins hook update nws --timeout 20000', 'reins hook update nws --header ""'],
      insideTool: 'refused',
    },
    {
      name: 'refresh',
      module: 'hook',
      purpose: 'Fetch the description of a hook now.',
      arguments: [hookArgument],
      examples: ['reins hook refresh nws', 'reins hook refresh nws --json'],
      exits: [7],
      insideTool: 'refused',
    },
    {
      name: 'accept',
      module: 'hook',
      purpose: 'Accept changed definitions of a hook.',
      arguments: [hookArgument],
      flags: acceptFlags,
      examples: ['reins hook accept nws', 'reins hook accept nws --tool getAlerts --yes'],
      insideTool: 'refused',
    },
    {
      name: 'remove',
      module: 'hook',
      aliases: ['rm'],
      purpose: 'Remove a hook.',
      arguments: [hookArgument],
      examples: ['reins hook remove nws', 'reins hook rm nws'],
      insideTool: 'refused',
    },
  ],
};

const mcpFields: readonly Flag[] = [
  { name: 'env', kind: 'list', value: 'NAME[=v]', help: 'Variable for the server process.' },
  { name: 'auth-type', kind: 'enum', value: 't', words: ['bearer', 'oauth'], help: 'How to authenticate.' },
  { name: 'auth-env', kind: 'string', value: 'VAR', help: 'Environment variable that holds the token.' },
  { name: 'auth-token', kind: 'string', value: 'token', help: 'The token itself.' },
  { name: 'oauth-client-id', kind: 'string', value: 'id', help: 'Client id of a registered client.' },
  { name: 'oauth-client-secret-env', kind: 'string', value: 'VAR', help: 'Variable that holds its secret.' },
  { name: 'oauth-scopes', kind: 'string', value: 's', help: 'Scopes to ask for.' },
  header,
  inject,
  { name: 'connect-timeout', kind: 'duration', value: 'd', help: 'Limit of connecting.' },
  { name: 'timeout', kind: 'duration', value: 'd', help: 'Limit of one call.' },
];

/** Known, so that a change of them can be answered with what to do instead (05 §10.1). */
const mcpIdentity: readonly Flag[] = [
  { name: 'transport', kind: 'string', value: 't', help: 'Cannot be changed: remove the server and add another.' },
  { name: 'command', kind: 'string', value: 'c', help: 'Cannot be changed.' },
  { name: 'args', kind: 'string', value: 'a,b', help: 'Cannot be changed.' },
  { name: 'url', kind: 'string', value: 'url', help: 'Cannot be changed.' },
];

const mcp: Command = {
  name: 'mcp',
  purpose: 'Register tool servers.',
  examples: ['reins mcp add docs https://host/mcp', 'reins mcp list'],
  commands: [
    {
      name: 'add',
      module: 'mcp',
      purpose: 'Register a tool server; a URL makes the transport http.',
      arguments: [newServer, { name: 'url', help: 'Its URL.' }],
      flags: [
        { name: 'transport', kind: 'enum', value: 't', words: ['stdio', 'sse', 'http'], help: 'How to talk to it.' },
        { name: 'command', kind: 'string', value: 'c', help: 'Program to start (stdio).' },
        { name: 'args', kind: 'string', value: 'a,b', help: 'Its arguments, split at commas.' },
        { name: 'arg', kind: 'list', value: 'a', help: 'One argument, taken as it is.' },
        {
          name: 'cwd',
          kind: 'path',
          value: 'dir',
          help: 'Directory to start it in; else the project, or for the database of your home that one.',
        },
        { name: 'pin-command', kind: 'boolean', help: 'Refuse to start it when the program has changed.' },
        { name: 'url', kind: 'string', value: 'url', help: 'Its URL (sse, http).' },
        ...mcpFields,
        probe,
      ],
      examples: [
        'reins mcp add fs --command npx --args=-y,@scope/server,/tmp',
        'reins mcp add docs https://host/mcp --auth-type bearer --auth-env TOKEN',
      ],
      insideTool: 'refused',
    },
    {
      name: 'list',
      module: 'mcp',
      aliases: ['ls'],
      purpose: 'List the tool servers.',
      examples: ['reins mcp list', 'reins mcp list --json'],
    },
    {
      name: 'show',
      module: 'mcp',
      purpose: 'Show a tool server and its tools; secrets are masked.',
      arguments: [serverArgument],
      examples: ['reins mcp show fs', 'reins mcp show fs --json'],
    },
    {
      name: 'update',
      module: 'mcp',
      purpose: 'Change headers, variables, limits or authentication of a server.',
      arguments: [serverArgument],
      flags: [...mcpFields, ...mcpIdentity],
      examples: [
        'reins mcp update docs --header "X-Team: a"',
        'reins mcp update docs --auth-type bearer --auth-env TOKEN',
      ],
      insideTool: 'refused',
    },
    {
      name: 'test',
      module: 'mcp',
      purpose: 'Connect to a tool server and list its tools.',
      arguments: [serverArgument],
      examples: ['reins mcp test fs', 'reins mcp test fs --json'],
      exits: [7],
      insideTool: 'refused',
    },
    {
      name: 'diff',
      module: 'mcp',
      purpose: 'Show how the tools of a server differ from what was accepted.',
      arguments: [serverArgument],
      examples: ['reins mcp diff fs', 'reins mcp diff fs --json'],
      insideTool: 'refused',
    },
    {
      name: 'accept',
      module: 'mcp',
      purpose: 'Accept changed definitions of a tool server.',
      arguments: [serverArgument],
      flags: acceptFlags,
      examples: ['reins mcp accept fs', 'reins mcp accept fs --tool read --yes'],
      insideTool: 'refused',
    },
    {
      name: 'auth',
      module: 'mcp-auth',
      purpose: 'Sign in to a tool server.',
      arguments: [serverArgument],
      flags: [
        { name: 'browser', kind: 'boolean', negative: true, help: 'Only print the URL.' },
        { name: 'logout', kind: 'boolean', help: 'Forget the tokens.' },
      ],
      examples: ['reins mcp auth docs', 'reins mcp auth docs --no-browser'],
      exits: [124],
      insideTool: 'refused',
    },
    {
      name: 'remove',
      module: 'mcp',
      aliases: ['rm'],
      purpose: 'Remove a tool server.',
      arguments: [serverArgument],
      examples: ['reins mcp remove fs', 'reins mcp rm docs'],
      insideTool: 'refused',
    },
  ],
};

/** Where tools come from beside the built-in ones. */
export const toolSourceCommands: readonly Command[] = [hook, mcp];
