// What is measured: the floor client of this harness, and Reins with the bench chain and policy (amendment 29), once
// more with the policy that ships. Placeholders, replaced in every string: {install} {home} {work} {port} {base}
// {harness} {node} {prompt}; {{cmd}}, {{file}} and {{n}} in tools come from the script. `setup` runs once in a new home.

const chain = JSON.stringify({
  id: 'bench',
  tasks: [
    {
      id: 'work',
      handler: 'chat_completion',
      execute_config: { model: '{{var:model}}', tools: ['*'] },
      transition: {
        branches: [
          { operator: 'equals', when: 'executed', goto: 'end' },
          { operator: 'default', goto: 'run_tools' },
        ],
      },
    },
    {
      id: 'run_tools',
      handler: 'execute_tool_calls',
      input_var: 'work',
      transition: { branches: [{ operator: 'default', goto: 'work' }] },
    },
  ],
});
const policy = JSON.stringify({ default_action: 'allow', rules: [] });
const reins = ['{node}', '{install}/dist/src/cli/main.js'];

const tools = {
  shell: { name: 'local_shell_local_shell', args: { command: '{{cmd}}' } },
  read: { name: 'local_fs_read_file', args: { path: '{work}/{{file}}' } },
};

function peer(about, flags, tools, dataDir = '{home}/data') {
  return {
    about,
    cmd: reins,
    env: { REINS_HOME: '{home}/.reins', REINS_DATA_DIR: dataDir },
    files: { 'bench-chain.json': chain, 'bench-policy.json': policy },
    setup: [
      ['init'],
      ['backend', 'add', 'fake', '--type', 'openai-compatible', '--url', '{base}/v1'],
      ['model', 'add', 'fake-model', '--backend', 'fake', '--context', '10m', '--capability', 'tools'],
      ['config', 'set', 'default-model', 'fake-model'],
      ['config', 'set', 'default-provider', 'openai-compatible'],
      ['config', 'set', 'max-rounds', '10000'],
    ],
    version: ['--version'],
    help: ['--help'],
    list: ['session', 'list'],
    run: ['run', ...flags, '{prompt}'],
    runKeep: ['chat', ...flags, '{prompt}'],
    resume: ['chat', ...flags, '{prompt}'],
    tools,
  };
}

const benchFlags = [
  '--shell',
  ...['--chain', '{home}/bench-chain.json'],
  ...['--local-exec-allowed-dir', '{work}'],
  ...['--policy', '{home}/bench-policy.json'],
];

export default {
  node: {
    about: 'the runtime alone: node -e 0',
    cmd: ['{node}'],
    version: ['-e', '0'],
    help: ['-e', '0'],
    list: ['-e', '0'],
  },
  floor: {
    about: 'the least a Node client can do for the same work',
    cmd: ['{node}', '{harness}/floor.mjs'],
    env: { FLOOR_BASE: '{base}/v1' },
    version: ['--version'],
    help: ['--help'],
    run: ['{prompt}'],
    runKeep: ['--session', '{home}/s.jsonl', '{prompt}'],
    resume: ['--session', '{home}/s.jsonl', '{prompt}'],
    tools: {
      shell: { name: 'bash', args: { command: '{{cmd}}' } },
      read: { name: 'read', args: { path: '{{file}}' } },
    },
  },
  reins: peer('reins, bench chain and policy', benchFlags, tools),
  'reins-default': {
    // No shell tool: the policy that ships would ask about every step, since `true` is not on its list. The root of a run
    // lies around its data directory, and files below the root may be read.
    ...peer('reins without a flag: chain and policy that ship', [], { read: tools.read }, '{work}/.reins'),
    runKeep: undefined,
    resume: undefined,
  },
};
