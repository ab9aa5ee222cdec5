import type { Command } from '../command.ts';
import { since } from './since.ts';

const policyFlag = 'The policy; the one that would govern here without it.';

export const policyCommand: Command = {
  name: 'policy',
  purpose: 'Show, check, explain and test policies.',
  examples: ['reins policy show', 'reins policy explain --command "git status"'],
  commands: [
    {
      name: 'list',
      aliases: ['ls'],
      purpose: 'List the policies of all layers.',
      examples: ['reins policy list', 'reins policy list --json'],
      exits: [3],
      module: 'policy',
    },
    {
      name: 'show',
      purpose: 'Show the document of a policy as it is stored.',
      arguments: [{ name: 'policy', candidates: 'policy', help: policyFlag }],
      flags: [{ name: 'path', kind: 'boolean', help: 'Print only where it comes from.' }],
      examples: ['reins policy show', 'reins policy show strict --json'],
      exits: [3],
      module: 'policy',
    },
    {
      name: 'vet',
      purpose: 'Check policies: what is invalid, unreachable or wider than it looks.',
      arguments: [
        { name: 'path', many: true, candidates: 'policy', help: 'Documents by path or name; all files without one.' },
      ],
      flags: [{ name: 'strict', kind: 'boolean', help: 'Warnings count as errors.' }],
      examples: ['reins policy vet', 'reins policy vet default --strict'],
      exits: [3],
      module: 'policy',
    },
    {
      name: 'explain',
      purpose: 'Say what would happen to a call, rule by rule.',
      arguments: [
        { name: 'tools', help: 'Tool provider, or <tools>/<tool>.' },
        { name: 'tool', help: 'The tool.' },
        { name: 'args', help: 'Its arguments as JSON.' },
      ],
      flags: [
        { name: 'args', kind: 'string', value: 'json|@file', help: 'Arguments of the call.' },
        { name: 'command', kind: 'string', value: 'line', help: 'A command line for local_shell.' },
        { name: 'cwd', kind: 'path', value: 'dir', help: 'Directory of the call.' },
        { name: 'ask', kind: 'string', value: 'id', help: 'The call of this ask instead.' },
      ],
      examples: [
        'reins policy explain --command "git status"',
        'reins policy explain local_fs/read_file --args \'{"path":"a"}\'',
      ],
      exits: [3],
      module: 'policy-explain',
    },
    {
      name: 'test',
      purpose: 'Run policy test files.',
      arguments: [
        {
          name: 'path',
          many: true,
          candidates: 'file',
          help: 'Test files; every *.policy-test.json here without one.',
        },
      ],
      examples: ['reins policy test', 'reins policy test .reins/mine.policy-test.json'],
      exits: [3],
      module: 'policy-cases',
    },
    {
      name: 'replay',
      purpose: 'Run recorded calls through another policy.',
      arguments: [{ name: 'policy', candidates: 'policy', help: 'The other policy, or --policy.' }],
      flags: [
        { ...since, default: '30d' },
        { name: 'session', kind: 'string', value: 'name', help: 'Only calls of this session.' },
        { name: 'tools', kind: 'string', value: 'x', help: 'Only calls of this tool provider.' },
        {
          name: 'limit',
          kind: 'int',
          value: 'n',
          min: 1,
          max: 100_000,
          default: '1000',
          help: 'At most this many calls, newest first.',
        },
        {
          name: 'fail-on',
          kind: 'enum',
          value: 'w',
          words: ['widened', 'changed'],
          help: 'Exit 1 if a decision did this.',
        },
      ],
      examples: ['reins policy replay strict --since 30d', 'reins policy replay strict --fail-on widened'],
      exits: [3],
      module: 'policy-compare',
    },
    {
      name: 'diff',
      purpose: 'Compare two policies by what they decide.',
      arguments: [
        {
          name: 'a',
          required: true,
          candidates: 'policy',
          help: 'A policy; builtin:<name> is the shipped one of that name.',
        },
        { name: 'b', required: true, candidates: 'policy', help: 'Another one.' },
      ],
      flags: [{ name: 'fail-on-widening', kind: 'boolean', help: 'Exit 1 if the second permits more.' }],
      examples: ['reins policy diff default strict', 'reins policy diff old.json new.json --fail-on-widening'],
      exits: [3],
      module: 'policy-compare',
    },
    {
      name: 'suggest',
      purpose: 'Propose the narrowest rules that would have answered past asks.',
      flags: [
        { ...since, default: '30d' },
        { name: 'write', kind: 'boolean', help: 'Ask about each, and write it to your own policy.' },
      ],
      examples: ['reins policy suggest', 'reins policy suggest --since 2w --write'],
      exits: [3],
      module: 'policy-suggest',
      insideTool: 'refused',
    },
    {
      name: 'import',
      purpose: 'Turn the permission settings of another program into a policy.',
      arguments: [{ name: 'path', candidates: 'file', help: 'The settings file; its usual place without it.' }],
      flags: [
        {
          name: 'from',
          kind: 'enum',
          value: 'format',
          words: ['claude', 'codex', 'opencode', 'gemini'],
          help: 'Format of the settings.',
        },
        { name: 'out', kind: 'path', value: 'file', stdout: true, help: 'Write to this file, not to stdout.' },
      ],
      examples: ['reins policy import --from claude', 'reins policy import --from codex --out hitl-policy.json'],
      exits: [3],
      module: 'policy-import',
    },
    {
      name: 'trust',
      purpose: 'Declare the binaries that a policy may run unasked.',
      arguments: [{ name: 'name', many: true, help: 'Programs, by name or by absolute path.' }],
      flags: [
        { name: 'refresh', kind: 'boolean', help: 'Read the declared files again; without a name, all of them.' },
        { name: 'list', kind: 'boolean', help: 'List what is declared, and whether it still holds.' },
        { name: 'remove', kind: 'boolean', help: 'Take the declaration away.' },
      ],
      examples: ['reins policy trust git', 'reins policy trust --list'],
      exits: [3],
      module: 'policy-trust',
      insideTool: 'refused',
    },
  ],
};
