import type { Command, Flag } from '../command.ts';

const planName: Flag = { name: 'plan', kind: 'string', value: 'name', help: 'Act on this plan, not the active one.' };
const planExits = [3, 4, 5, 6, 7, 124, 130, 143] as const;

export const planCommand: Command = {
  name: 'plan',
  purpose: 'Break a goal into steps and execute them.',
  examples: ['reins plan new "add retries to the client"', 'reins plan next --auto'],
  commands: [
    {
      name: 'new',
      purpose: 'Create a plan from a goal and make it the active one.',
      arguments: [{ name: 'goal', required: true, many: true, help: 'What is to be reached.' }],
      flags: [
        { name: 'explore', kind: 'boolean', help: 'Look at the project first.' },
        { name: 'from', kind: 'path', value: 'file', help: 'Take the steps from this file.' },
        { name: 'planner-model', kind: 'string', value: 'm', config: 'planner-model', help: 'Model that plans.' },
      ],
      examples: ['reins plan new "add retries to the client"', 'reins plan new --explore "document the build"'],
      exits: planExits,
      insideTool: 'refused',
    },
    {
      name: 'list',
      aliases: ['ls'],
      purpose: 'List the plans with their progress.',
      examples: ['reins plan list', 'reins plan list --json'],
    },
    {
      name: 'show',
      purpose: 'Show the steps of a plan.',
      arguments: [{ name: 'name', help: 'The plan; the active one without it.' }],
      flags: [{ name: 'markdown', kind: 'boolean', help: 'Print it as Markdown.' }],
      examples: ['reins plan show', 'reins plan show --markdown'],
    },
    {
      name: 'switch',
      purpose: 'Make a plan the active one.',
      arguments: [{ name: 'name', required: true, help: 'The plan.' }],
      examples: ['reins plan switch add-retries-3fa9c1d2', 'reins plan switch docs-91ab33f0'],
    },
    {
      name: 'next',
      purpose: 'Execute the next pending step.',
      flags: [planName, { name: 'auto', kind: 'boolean', help: 'Go on until all are done or one fails.' }],
      examples: ['reins plan next', 'reins plan next --auto --shell'],
      exits: planExits,
      insideTool: 'refused',
    },
    {
      name: 'retry',
      purpose: 'Put a failed step back and execute it.',
      arguments: [{ name: 'n', required: true, help: 'Number of the step.' }],
      flags: [planName],
      examples: ['reins plan retry 3', 'reins plan retry 3 --plan docs-91ab33f0'],
      exits: planExits,
      insideTool: 'refused',
    },
    {
      name: 'skip',
      purpose: 'Leave a step out.',
      arguments: [{ name: 'n', required: true, help: 'Number of the step.' }],
      flags: [planName],
      examples: ['reins plan skip 3', 'reins plan skip 3 --plan docs-91ab33f0'],
      insideTool: 'refused',
    },
    {
      name: 'replan',
      purpose: 'Plan the steps that are left anew.',
      arguments: [{ name: 'instruction', many: true, help: 'What to change.' }],
      flags: [planName],
      examples: ['reins plan replan', 'reins plan replan leave the tests for later'],
      exits: planExits,
      insideTool: 'refused',
    },
    {
      name: 'explore',
      purpose: 'Look at the project for the planner.',
      flags: [planName],
      examples: ['reins plan explore', 'reins plan explore --plan docs-91ab33f0'],
      insideTool: 'refused',
    },
    {
      name: 'archive',
      purpose: 'Put a plan away.',
      arguments: [{ name: 'name', help: 'The plan; the active one without it.' }],
      examples: ['reins plan archive', 'reins plan archive docs-91ab33f0'],
    },
    {
      name: 'delete',
      aliases: ['rm'],
      purpose: 'Delete a plan and its steps.',
      arguments: [{ name: 'name', required: true, help: 'The plan.' }],
      flags: [{ name: 'force', kind: 'boolean', help: 'Also with a live or suspended step.' }],
      examples: ['reins plan delete docs-91ab33f0', 'reins plan delete docs-91ab33f0 --force'],
      insideTool: 'refused',
    },
    {
      name: 'clean',
      purpose: 'Delete the plans that are finished or archived.',
      flags: [{ name: 'force', kind: 'boolean', help: 'Do not ask.' }],
      examples: ['reins plan clean', 'reins plan clean --force'],
    },
  ],
};
