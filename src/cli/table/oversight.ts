import { auditTypes } from '../../schema/audit-types.ts';
import type { Command } from '../command.ts';
import { policyCommand } from './policy.ts';
import { since } from './since.ts';

const approvals: Command = {
  name: 'approvals',
  purpose: 'List, show and answer asks.',
  examples: ['reins approvals list', 'reins approvals respond 8d2k4m --approve'],
  commands: [
    {
      name: 'list',
      aliases: ['ls'],
      purpose: 'List asks, soonest deadline first.',
      flags: [
        {
          name: 'state',
          kind: 'enum',
          value: 's',
          words: ['pending', 'all', 'approved', 'denied', 'answered', 'expired', 'cancelled'],
          default: 'pending',
          help: 'Only asks in this state.',
        },
        {
          name: 'kind',
          kind: 'enum',
          value: 'k',
          words: ['permission', 'question', 'budget', 'unknown_outcome'],
          help: 'Only asks of this kind.',
        },
        { name: 'session', kind: 'string', value: 'name', help: 'Only asks of this session.' },
        {
          name: 'mission',
          kind: 'string',
          value: 'id',
          help: 'Only asks of this plan, or of this run and what it started.',
        },
        {
          name: 'by',
          kind: 'enum',
          value: 'who',
          words: ['operator', 'agent', 'system'],
          help: 'Only asks answered by one of these.',
        },
        { name: 'limit', kind: 'int', value: 'n', min: 1, max: 1000, default: '50', help: 'At most this many.' },
      ],
      examples: ['reins approvals list', 'reins approvals list --state all --limit 20 --json'],
      module: 'approvals',
    },
    {
      name: 'show',
      purpose: 'Show the whole card of an ask.',
      arguments: [{ name: 'id', required: true, candidates: 'ask', help: 'Id of the ask, or an end of it.' }],
      flags: [
        { name: 'full', kind: 'boolean', help: 'Arguments and diff without a cut.' },
        { name: 'explain', kind: 'boolean', help: 'Also rule by rule why it asks.' },
      ],
      examples: ['reins approvals show 8d2k4m', 'reins approvals show 8d2k4m --full --explain'],
      module: 'approvals',
    },
    {
      name: 'respond',
      purpose: 'Answer an ask; the first answer counts.',
      arguments: [
        { name: 'id', required: true, many: true, candidates: 'ask', help: 'Id of the ask, or an end of it.' },
      ],
      flags: [
        { name: 'approve', kind: 'boolean', help: 'Let the call run.' },
        { name: 'deny', kind: 'boolean', help: 'Refuse the call; the model is told.' },
        { name: 'answer', kind: 'string', value: 'text', help: 'Answer a question; - reads stdin.' },
        {
          name: 'treat-as',
          kind: 'enum',
          value: 'w',
          words: ['run-again', 'done', 'skip'],
          help: 'Verdict on a call of unknown outcome.',
        },
        { name: 'text', kind: 'string', value: 'text', help: 'The result for --treat-as done; - reads stdin.' },
        { name: 'cancel', kind: 'boolean', help: 'Close the ask; nothing will run.' },
        { name: 'feedback', kind: 'string', value: 'text', help: 'Words for the model, with --deny.' },
        { name: 'binding', kind: 'list', value: 'hex', help: 'Answer only if the ask still binds to this.' },
        { name: 'remember', kind: 'enum', value: 'w', words: ['session'], help: 'Also for the same call later.' },
        { name: 'accept-changed-chain', kind: 'boolean', help: 'Resume although the chain file has changed.' },
        { name: 'resume', kind: 'boolean', negative: true, help: 'Record the verdict and nothing else.' },
        { name: 'wait', kind: 'boolean', help: 'Wait until the run has ended.' },
      ],
      examples: [
        'reins approvals respond 8d2k4m --approve',
        'reins approvals respond 8d2k4m --deny --feedback "use git mv"',
      ],
      exits: [3, 4, 5, 6, 7, 124, 130, 143],
      module: 'approvals',
      insideTool: 'refused',
    },
    {
      name: 'forget',
      purpose: 'End what was approved for the rest of a session.',
      flags: [{ name: 'session', kind: 'string', value: 'name', help: 'Of this session; without it, the active one.' }],
      examples: ['reins approvals forget', 'reins approvals forget --session work'],
      exits: [5],
      module: 'approvals-forget',
      insideTool: 'refused',
    },
    {
      name: 'watch',
      purpose: 'Print pending asks, then every change, until interrupted.',
      flags: [{ name: 'since', kind: 'int', value: 'cursor', min: 0, help: 'Go on after this cursor.' }],
      examples: ['reins approvals watch', 'reins approvals watch --json'],
      exits: [130, 143],
      module: 'approvals-watch',
    },
  ],
};

const audit: Command = {
  name: 'audit',
  purpose: 'Read, verify and export the record of decisions.',
  examples: ['reins audit list --since 1d', 'reins audit verify'],
  commands: [
    {
      name: 'list',
      aliases: ['ls'],
      purpose: 'List entries, newest first.',
      flags: [
        since,
        { name: 'run', kind: 'string', value: 'id', help: 'Only entries of this run.' },
        { name: 'type', kind: 'enum', value: 't', words: auditTypes, help: 'Only entries of this type.' },
        { name: 'tools', kind: 'string', value: 'x', help: 'Only entries of this tool provider.' },
        { name: 'limit', kind: 'int', value: 'n', min: 1, max: 100_000, default: '100', help: 'At most this many.' },
      ],
      examples: ['reins audit list', 'reins audit list --since 1d --tools local_shell'],
      module: 'audit',
    },
    {
      name: 'verify',
      purpose: 'Prove that the record is whole.',
      flags: [{ name: 'head', kind: 'string', value: 'hash', help: 'The newest hash that you know.' }],
      examples: ['reins audit verify', 'reins audit verify --json'],
      module: 'audit',
    },
    {
      name: 'export',
      purpose: 'Write the record as JSON lines.',
      flags: [
        since,
        { name: 'out', kind: 'path', value: 'file', stdout: true, help: 'Write to this file, not to stdout.' },
        { name: 'with-text', kind: 'boolean', help: 'Also the words of people in verdicts.' },
      ],
      examples: ['reins audit export', 'reins audit export --since 30d --out audit.jsonl'],
      module: 'audit',
    },
    {
      name: 'prune',
      purpose: 'Remove old entries behind an anchor row.',
      flags: [
        { name: 'before', kind: 'since', value: 'date', help: 'Entries older than this.' },
        { name: 'yes', kind: 'boolean', help: 'Do not ask.' },
      ],
      examples: ['reins audit prune --before 2026-01-01', 'reins audit prune --before 365d --yes'],
      module: 'audit',
      insideTool: 'refused',
    },
    {
      name: 'restored',
      purpose: 'Record that the database is a backup.',
      flags: [{ name: 'yes', kind: 'boolean', help: 'Do not ask.' }],
      examples: ['reins audit restored', 'reins audit restored --yes'],
      exits: [3],
      module: 'audit',
      insideTool: 'refused',
    },
  ],
};

const trust: Command = {
  name: 'trust',
  bare: true,
  purpose: 'Review what this project brings along and decide what may be used.',
  examples: ['reins trust', 'reins trust list'],
  exits: [3],
  module: 'trust',
  insideTool: 'refused',
  commands: [
    {
      name: 'list',
      aliases: ['ls'],
      purpose: 'List what is trusted.',
      examples: ['reins trust list', 'reins trust list --json'],
      module: 'trust',
      insideTool: 'refused',
    },
    {
      name: 'add',
      purpose: 'Trust the present content of files.',
      arguments: [{ name: 'path', required: true, many: true, candidates: 'file', help: 'The files.' }],
      flags: [
        { name: 'sha256', kind: 'string', value: 'hash', help: 'The hash that is meant; needed without a terminal.' },
      ],
      examples: [
        'reins trust add .reins/default-chain.json',
        'reins trust add .reins/hitl-policy.json --sha256 50162af6819b6a9cfb7f137e92e17b6397133e86dfdcb1a96a9357b256157f80',
      ],
      exits: [3],
      module: 'trust',
      insideTool: 'refused',
    },
    {
      name: 'show',
      purpose: 'Show hash, state and the difference to what was trusted before.',
      arguments: [{ name: 'path', required: true, candidates: 'file', help: 'The file.' }],
      examples: ['reins trust show .reins/default-chain.json', 'reins trust show .reins/hitl-policy.json'],
      module: 'trust',
      insideTool: 'refused',
    },
    {
      name: 'remove',
      aliases: ['rm'],
      purpose: 'Take trust away.',
      arguments: [{ name: 'path|sha256', required: true, candidates: 'file', help: 'A path or a hash.' }],
      examples: ['reins trust remove .reins/default-chain.json', 'reins trust rm .reins/hitl-policy.json'],
      module: 'trust',
      insideTool: 'refused',
    },
  ],
};

/** Asks, policies, the record, trust. */
export const oversightCommands: readonly Command[] = [approvals, policyCommand, audit, trust];
