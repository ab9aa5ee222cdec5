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
  examples: ['reins doctor', 'reins doctor --strict --json', 'reins doctor --bundle --skip-probe'],
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
        { name: 'value', required: true, candidates: 'config-value', help: 'Its value.' },
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
      module: 'model',
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
      module: 'chain',
    },
  ],
};

/** What is registered and configured. */
export const setupCommands: readonly Command[] = [init, doctor, config, backend, model, chain];
