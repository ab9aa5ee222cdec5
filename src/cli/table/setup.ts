import { capabilityNames, providerTypes } from '../../schema/registry.ts';
import type { Command, Flag } from '../command.ts';

const backendFields: readonly Flag[] = [
  { name: 'url', kind: 'string', value: 'url', help: 'Base URL; inferred where the type has one.' },
  { name: 'api-key-env', kind: 'string', value: 'VAR', help: 'Environment variable that holds the key.' },
  { name: 'api-key', kind: 'string', value: 'key', help: 'The key itself; - reads it from stdin.' },
  { name: 'header', kind: 'list', value: 'K: V', help: 'HTTP header sent on every call.' },
  { name: 'proxy', kind: 'string', value: 'url|none', help: 'Proxy for this backend.' },
  { name: 'connect-timeout', kind: 'duration', value: 'd', help: 'Limit of connecting.' },
  { name: 'first-byte-timeout', kind: 'duration', value: 'd', help: 'Limit until the first byte.' },
  { name: 'idle-timeout', kind: 'duration', value: 'd', help: 'Limit of silence while streaming.' },
];
const onBackend: Flag = { name: 'backend', kind: 'string', value: 'name', help: 'Only on this backend.' };
const modelArgument = { name: 'name', required: true, candidates: 'model', help: 'The model.' } as const;
const backendArgument = { name: 'name', required: true, candidates: 'backend', help: 'The backend.' } as const;
const serverArgument = { name: 'name', required: true, help: 'Name of the server.' } as const;
const hookArgument = { name: 'name', required: true, help: 'Name of the hook.' } as const;
const yes: Flag = { name: 'yes', kind: 'boolean', help: 'Do not ask.' };

const init: Command = {
  name: 'init',
  purpose: 'Create the data directory with its chains.',
  arguments: [{ name: 'provider', words: providerTypes, help: 'Also set up this provider type.' }],
  flags: [{ name: 'force', kind: 'boolean', help: 'Overwrite; the old content is kept as <file>.bak.' }],
  examples: ['reins init', 'reins init scripted', 'reins init ollama --json'],
  module: 'init',
  insideTool: 'refused',
};

const doctor: Command = {
  name: 'doctor',
  purpose: 'Say what is missing, each with the command that mends it.',
  flags: [
    { name: 'strict', kind: 'boolean', help: 'Warnings count as errors.' },
    { name: 'skip-probe', kind: 'boolean', help: 'No network call; show the last known state.' },
    { name: 'bundle', kind: 'boolean', help: 'Write a support bundle without secrets.' },
    { name: 'out', kind: 'path', value: 'file.zip', help: 'Where the bundle goes.' },
  ],
  examples: ['reins doctor', 'reins doctor --strict --json'],
  module: 'doctor',
};

const config: Command = {
  name: 'config',
  purpose: 'Persistent defaults; the keys: reins help config.',
  examples: ['reins config set default-model qwen2.5:7b', 'reins config list'],
  commands: [
    {
      name: 'set',
      purpose: 'Set a key.',
      arguments: [
        { name: 'key', required: true, candidates: 'config', help: 'The key.' },
        { name: 'value', required: true, help: 'Its value.' },
      ],
      examples: ['reins config set default-model qwen2.5:7b', 'reins config set approval-ceiling 24h'],
      module: 'config',
      insideTool: 'refused',
    },
    {
      name: 'get',
      purpose: 'Print the effective value of a key.',
      arguments: [{ name: 'key', required: true, candidates: 'config', help: 'The key.' }],
      examples: ['reins config get default-model', 'reins config get default-timeout --json'],
      module: 'config',
    },
    {
      name: 'unset',
      purpose: 'Take a stored value away; the default counts again.',
      arguments: [{ name: 'key', required: true, candidates: 'config', help: 'The key.' }],
      examples: ['reins config unset default-model', 'reins config unset on-ask'],
      module: 'config',
      insideTool: 'refused',
    },
    {
      name: 'list',
      aliases: ['ls'],
      purpose: 'List all keys with value and source, sorted by name.',
      examples: ['reins config list', 'reins config list --json'],
      module: 'config',
    },
  ],
};

const backend: Command = {
  name: 'backend',
  purpose: 'Register and test model servers.',
  examples: ['reins backend add local --type ollama', 'reins backend list'],
  commands: [
    {
      name: 'add',
      purpose: 'Register a backend.',
      arguments: [{ name: 'name', required: true, help: 'Its name.' }],
      flags: [
        { name: 'type', kind: 'enum', value: 'type', words: providerTypes, default: 'ollama', help: 'Provider type.' },
        ...backendFields,
      ],
      examples: [
        'reins backend add local --type ollama',
        'reins backend add far --type openai --api-key-env OPENAI_API_KEY',
      ],
      module: 'backend',
      insideTool: 'refused',
    },
    {
      name: 'list',
      aliases: ['ls'],
      purpose: 'List the backends.',
      examples: ['reins backend list', 'reins backend list --json'],
      module: 'backend',
    },
    {
      name: 'show',
      purpose: 'Show a backend as JSON, without secrets.',
      arguments: [backendArgument],
      examples: ['reins backend show local', 'reins backend show far --json'],
      module: 'backend',
    },
    {
      name: 'update',
      purpose: 'Change a backend; only what is given changes.',
      arguments: [backendArgument],
      flags: backendFields,
      examples: [
        'reins backend update far --api-key-env MY_KEY',
        'reins backend update local --url http://127.0.0.1:11500',
      ],
      module: 'backend',
      insideTool: 'refused',
    },
    {
      name: 'test',
      purpose: 'Ask a backend whether it answers, and what it serves.',
      arguments: [backendArgument],
      examples: ['reins backend test local', 'reins backend test far --json'],
      exits: [7],
      module: 'backend',
      insideTool: 'refused',
    },
    {
      name: 'remove',
      aliases: ['rm'],
      purpose: 'Remove a backend with its declarations and stored key.',
      arguments: [backendArgument],
      examples: ['reins backend remove far', 'reins backend rm local'],
      module: 'backend',
      insideTool: 'refused',
    },
  ],
};

const sources: readonly Flag[] = [
  { name: 'url', kind: 'string', value: 'url', help: 'Where the file comes from.' },
  { name: 'sha256', kind: 'string', value: 'hash', help: 'The hash that it must have.' },
];

const model: Command = {
  name: 'model',
  aliases: ['models'],
  purpose: 'List, declare and download models.',
  examples: ['reins model list', 'reins model set-context qwen2.5:7b --context 32k'],
  commands: [
    {
      name: 'list',
      aliases: ['ls'],
      purpose: 'List the models of all backends.',
      flags: [onBackend, { name: 'refresh', kind: 'boolean', help: 'Ask the backends anew.' }],
      examples: ['reins model list', 'reins model list --backend local --refresh'],
      exits: [7],
      module: 'model',
    },
    {
      name: 'add',
      purpose: 'Declare a model.',
      arguments: [{ name: 'name', required: true, help: 'The model.' }],
      flags: [
        onBackend,
        { name: 'context', kind: 'size', value: 'n', help: 'Its context length in tokens.' },
        { name: 'max-output', kind: 'size', value: 'n', help: 'Most tokens of one reply.' },
        {
          name: 'capability',
          kind: 'list',
          value: 'c',
          words: [...capabilityNames, ...capabilityNames.map((name) => `no-${name}`)],
          help: 'chat, tools, think, vision, embed; no-<name> denies it.',
        },
        ...sources,
        { name: 'pull', kind: 'boolean', help: 'Download it too.' },
      ],
      examples: [
        'reins model add qwen2.5:7b --context 32k',
        'reins model add tiny --backend far --capability no-tools',
      ],
      exits: [7],
      module: 'model',
      insideTool: 'refused',
    },
    {
      name: 'remove',
      aliases: ['rm'],
      purpose: 'Remove a declaration.',
      arguments: [modelArgument],
      flags: [onBackend, { name: 'delete', kind: 'boolean', help: 'Also delete the downloaded file.' }, yes],
      examples: ['reins model remove tiny', 'reins model remove tiny --delete --yes'],
      module: 'model',
      insideTool: 'refused',
    },
    {
      name: 'prune',
      purpose: 'Delete local models that are not declared; needs --delete-models.',
      flags: [onBackend, yes],
      examples: ['reins model prune --delete-models', 'reins model prune --delete-models --backend local --yes'],
      insideTool: 'refused',
    },
    {
      name: 'pull',
      purpose: 'Download a model.',
      arguments: [{ name: 'name', required: true, help: 'The model.' }],
      flags: [onBackend, ...sources],
      examples: ['reins model pull qwen2.5:7b', 'reins model pull llama3.2:3b --backend local'],
      exits: [7, 130],
      module: 'model',
      insideTool: 'refused',
    },
    {
      name: 'show',
      purpose: 'Show capabilities, context and size of a model.',
      arguments: [modelArgument],
      flags: [onBackend],
      examples: ['reins model show qwen2.5:7b', 'reins model show qwen2.5:7b --json'],
      module: 'model',
    },
    {
      name: 'set-context',
      purpose: 'Declare the context length of a model.',
      arguments: [modelArgument],
      flags: [onBackend, { name: 'context', kind: 'size', value: 'n', help: 'Tokens; 0 clears it. Required.' }],
      examples: ['reins model set-context qwen2.5:7b --context 32k', 'reins model set-context tiny --context 0'],
      module: 'model',
      insideTool: 'refused',
    },
  ],
};

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
      purpose: 'Register an OpenAPI service.',
      arguments: [hookArgument],
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
      aliases: ['ls'],
      purpose: 'List the hooks.',
      examples: ['reins hook list', 'reins hook list --json'],
    },
    {
      name: 'show',
      purpose: 'Show a hook and its tools; values are never shown.',
      arguments: [hookArgument],
      examples: ['reins hook show nws', 'reins hook show nws --json'],
    },
    {
      name: 'update',
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
      purpose: 'Fetch the description of a hook now.',
      arguments: [hookArgument],
      examples: ['reins hook refresh nws', 'reins hook refresh nws --json'],
      exits: [7],
      insideTool: 'refused',
    },
    {
      name: 'accept',
      purpose: 'Accept changed definitions of a hook.',
      arguments: [hookArgument],
      flags: acceptFlags,
      examples: ['reins hook accept nws', 'reins hook accept nws --tool getAlerts --yes'],
      insideTool: 'refused',
    },
    {
      name: 'remove',
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

const mcp: Command = {
  name: 'mcp',
  purpose: 'Register tool servers.',
  examples: ['reins mcp add web https://host/mcp', 'reins mcp list'],
  commands: [
    {
      name: 'add',
      purpose: 'Register a tool server; a URL makes the transport http.',
      arguments: [serverArgument, { name: 'url', help: 'Its URL.' }],
      flags: [
        { name: 'transport', kind: 'enum', value: 't', words: ['stdio', 'sse', 'http'], help: 'How to talk to it.' },
        { name: 'command', kind: 'string', value: 'c', help: 'Program to start (stdio).' },
        { name: 'args', kind: 'string', value: 'a,b', help: 'Its arguments, split at commas.' },
        { name: 'arg', kind: 'list', value: 'a', help: 'One argument, taken as it is.' },
        { name: 'cwd', kind: 'path', value: 'dir', help: 'Directory to start it in.' },
        { name: 'pin-command', kind: 'boolean', help: 'Refuse to start it when the program has changed.' },
        { name: 'url', kind: 'string', value: 'url', help: 'Its URL (sse, http).' },
        ...mcpFields,
        probe,
      ],
      examples: [
        'reins mcp add fs --command npx --args=-y,@scope/server,/tmp',
        'reins mcp add web https://host/mcp --auth-type bearer --auth-env TOKEN',
      ],
      insideTool: 'refused',
    },
    {
      name: 'list',
      aliases: ['ls'],
      purpose: 'List the tool servers.',
      examples: ['reins mcp list', 'reins mcp list --json'],
    },
    {
      name: 'show',
      purpose: 'Show a tool server and its tools; secrets are masked.',
      arguments: [serverArgument],
      examples: ['reins mcp show fs', 'reins mcp show fs --json'],
    },
    {
      name: 'update',
      purpose: 'Change headers, variables, limits or authentication of a server.',
      arguments: [serverArgument],
      flags: mcpFields,
      examples: [
        'reins mcp update web --header "X-Team: a"',
        'reins mcp update web --auth-type bearer --auth-env TOKEN',
      ],
      insideTool: 'refused',
    },
    {
      name: 'test',
      purpose: 'Connect to a tool server and list its tools.',
      arguments: [serverArgument],
      examples: ['reins mcp test fs', 'reins mcp test fs --json'],
      exits: [7],
      insideTool: 'refused',
    },
    {
      name: 'accept',
      purpose: 'Accept changed definitions of a tool server.',
      arguments: [serverArgument],
      flags: acceptFlags,
      examples: ['reins mcp accept fs', 'reins mcp accept fs --tool read --yes'],
      insideTool: 'refused',
    },
    {
      name: 'auth',
      purpose: 'Sign in to a tool server.',
      arguments: [serverArgument],
      flags: [
        { name: 'browser', kind: 'boolean', negative: true, help: 'Only print the URL.' },
        { name: 'logout', kind: 'boolean', help: 'Forget the tokens.' },
      ],
      examples: ['reins mcp auth web', 'reins mcp auth web --no-browser'],
      exits: [124],
      insideTool: 'refused',
    },
    {
      name: 'remove',
      aliases: ['rm'],
      purpose: 'Remove a tool server.',
      arguments: [serverArgument],
      examples: ['reins mcp remove fs', 'reins mcp rm web'],
      insideTool: 'refused',
    },
  ],
};

const chain: Command = {
  name: 'chain',
  purpose: 'List, show and check chains.',
  examples: ['reins chain list', 'reins chain vet .reins/default-run-chain.json'],
  commands: [
    {
      name: 'list',
      aliases: ['ls'],
      purpose: 'List the chains of all layers with source and trust.',
      examples: ['reins chain list', 'reins chain list --json'],
      module: 'chain',
    },
    {
      name: 'show',
      purpose: 'Print a chain as canonical JSON.',
      arguments: [{ name: 'path|name', required: true, candidates: 'chain', help: 'A file or a name.' }],
      examples: ['reins chain show default-run-chain', 'reins chain show ./nightly.json'],
      exits: [3],
      module: 'chain',
    },
    {
      name: 'vet',
      purpose: 'Check chains; all defects and warnings with their place.',
      arguments: [{ name: 'path', many: true, candidates: 'file', help: 'Files; all chains found without one.' }],
      flags: [{ name: 'strict', kind: 'boolean', help: 'Warnings count as errors.' }],
      examples: ['reins chain vet', 'reins chain vet ./nightly.json --strict'],
      exits: [3],
      module: 'chain',
    },
    {
      name: 'graph',
      purpose: 'Draw the tasks of a chain and the edges between them.',
      arguments: [{ name: 'path', required: true, candidates: 'file', help: 'The chain.' }],
      examples: ['reins chain graph default-run-chain', 'reins chain graph ./nightly.json'],
      exits: [3],
    },
  ],
};

/** What is registered and configured. */
export const setupCommands: readonly Command[] = [init, doctor, config, backend, model, hook, mcp, chain];
