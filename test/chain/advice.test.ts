import { describe, expect, test } from 'vitest';
import { readChain } from '../../src/chain/document.ts';

type Json = Record<string, unknown>;

/** What vet says of a chain, in order. */
async function said(tasks: readonly Json[], providers?: readonly string[], chain: Json = {}): Promise<string[]> {
  const { findings } = await readChain(
    JSON.stringify({ id: 'demo', ...chain, tasks }),
    providers === undefined ? {} : { providers },
  );
  return findings.map(({ code, message }) => `${code}: ${message}`);
}

const goto = (target: string): Json => ({ transition: { branches: [{ operator: 'default', goto: target }] } });

describe('what to do about a member', () => {
  const cases: readonly (readonly [string, Json, string])[] = [
    ['misspelt', { promt_template: 'x' }, 'a task has no member "promt_template"; did you mean prompt_template?'],
    ['in other capitals', { Print: 'x' }, 'a task has no member "Print"; did you mean print?'],
    ['by its beginning', { prompt: 'x' }, 'a task has no member "prompt"; did you mean prompt_template?'],
    ['by its end', { conditions: {} }, 'a task has no member "conditions"; did you mean valid_conditions?'],
    ['of an inner object', { temperature: 0 }, 'a task has no member "temperature"; it belongs in execute_config'],
    ['of an outer object', { token_limit: 1 }, 'a task has no member "token_limit"; it belongs in a chain'],
    ['of a branch', { transition: { goto: 'end' } }, 'a transition has no member "goto"; it belongs in a branch'],
    [
      'of nothing',
      { transition: { next: 'end' } },
      'a transition has no member "next"; known are on_failure, branches',
    ],
  ];
  test.each(cases)('%s', async (_, members, expected) => {
    expect(await said([{ id: 'a', handler: 'noop', ...members }])).toEqual([`unknown_member: ${expected}`]);
  });
});

describe('what to do about a name', () => {
  test('of a task or a variable that is near another one', async () => {
    expect(await said([{ id: 'a', handler: 'noop', ...goto('END') }])).toEqual([
      'unknown_target: there is no task "END"; did you mean end?',
    ]);
    expect(
      await said([{ id: 'first', handler: 'noop', prompt_template: '{{ inptu }} {{ frist }} {{ whatever }}' }]),
    ).toEqual([
      'unknown_variable: there is no variable and no task "inptu"; did you mean input?',
      'unknown_variable: there is no variable and no task "frist"; did you mean first?',
      'unknown_variable: there is no variable and no task "whatever"',
    ]);
    expect(await said([{ id: 'first', handler: 'noop', input_var: 'frist' }])).toEqual([
      'input_var_unknown: "frist" is neither a variable nor a task of this chain; did you mean first?',
    ]);
    expect(await said([{ id: 'first', handler: 'noop', prompt_template: '{{edge_count:first->frist}}' }])).toEqual([
      'bad_edge: there is no task "frist" for this edge; did you mean first?',
    ]);
  });

  test('of a macro, where its namespace is misspelled or missing', async () => {
    const system_instruction = '{{vra:x}} {{ model }} {{Var:a|b}} {{host:cpu}} {{var}} {{nosuch:x}}';
    expect(await said([{ id: 'a', handler: 'chat_completion', system_instruction }])).toEqual([
      'unknown_macro: {{vra:x}} is no macro and stays as it is; did you mean {{var:x}}?',
      'unknown_macro: {{ model }} is no macro and stays as it is; did you mean {{var:model}}?',
      'unknown_macro: {{Var:a|b}} is no macro and stays as it is; did you mean {{var:a|b}}?',
      'unknown_macro: {{host:cpu}} is no macro and stays as it is',
      'unknown_macro: {{var}} is no macro and stays as it is',
      'unknown_macro: {{nosuch:x}} is no macro and stays as it is',
    ]);
  });

  test('of the end, where a failure cannot lead', async () => {
    expect(await said([{ id: 'a', handler: 'noop', transition: { on_failure: 'end' } }])).toEqual([
      'unknown_target: on_failure leads to a task, not to end; without on_failure a failure ends the run',
    ]);
  });

  test('of a tool of our own', async () => {
    const chat = (config: Json): Json => ({ id: 'a', handler: 'chat_completion', execute_config: config });
    expect(await said([chat({ tools: ['local_fs.read_fil', '*', '!local_fs.wirte_file', 'web.fetch'] })])).toEqual([
      'unknown_tool: local_fs has no tool "read_fil"; did you mean read_file?',
      'unknown_tool: local_fs has no tool "wirte_file"; did you mean write_file?',
      'unknown_tool: web has no tool "fetch"; it has web_get, web_head, web_post, web_put, web_patch, web_delete',
    ]);
    const hidden = { tools: ['*'], hide_tools: ['sed', 'local_fs_sed', 'writefile', 'local_fs.edit', 'local_fs'] };
    expect(await said([chat(hidden)], [])).toEqual([
      'unknown_tool: there is no tool "writefile" to hide; did you mean write_file?',
      'unknown_tool: local_fs has no tool "edit"; it has read_file, read_file_range, list_dir, find_files, grep, count_stats, stat_file, write_file, edit_file, sed',
      'unknown_tool: there is no tool "local_fs" to hide; name a tool, alone or as provider.tool',
    ]);
    // That of a registered provider may have any name.
    expect(await said([chat({ tools: ['*'], hide_tools: ['writefile'] })], ['mine'])).toEqual([]);
    expect(await said([chat({ tools: ['mine.any', '{{var:one}}.x'], hide_tools: ['{{var:x}}'] })], ['mine'])).toEqual(
      [],
    );
  });

  test('in the block of a tools task', async () => {
    const call = (tools: Json): Json => ({ id: 'a', handler: 'tools', tools });
    expect(await said([call({ name: 'local_fs', tool_name: 'read_fil' })])).toEqual([
      'unknown_tool: local_fs has no tool "read_fil"; did you mean read_file?',
    ]);
    expect(await said([call({ name: 'local_fs.read_file' })], [])).toEqual([
      'unknown_provider: "local_fs.read_file" is a tool; write name "local_fs" and tool_name "read_file"',
    ]);
    expect(await said([call({ name: 'localfs', tool_name: 'sed' })], [])).toEqual([
      'unknown_provider: no tool provider "localfs" is registered here; did you mean local_fs?',
    ]);
    expect(
      await said([call({ name: 'mine', tool_name: 'any' }), call({ name: 'local_fs', tool_name: '{{var:t}}' })]),
    ).toEqual(['duplicate_id: another task has the id a']);
  });
});

test('what to do about a task that nothing leads to, and about an input that does not suit', async () => {
  expect(
    await said([
      { id: 'a', handler: 'noop' },
      { id: 'b', handler: 'noop' },
    ]),
  ).toEqual([
    'unreachable_task: no path leads to this task: name it in the goto of a branch or in on_failure; a task without branches ends the run',
  ]);
  const number = { id: 'a', handler: 'prompt_to_int', ...goto('b') };
  expect(await said([number, { id: 'b', handler: 'chat_completion' }])).toEqual([
    'input_type_mismatch: the handler chat_completion takes string, chat_history, but only int can reach it; set input_var or a prompt_template',
  ]);
  expect(await said([number, { id: 'b', handler: 'execute_tool_calls' }])).toEqual([
    'input_type_mismatch: the handler execute_tool_calls takes chat_history, but only int can reach it; set input_var',
    'loop_drops_results: its results never reach a chat_completion task',
  ]);
});

test('a time limit without a unit is shorter than was meant', async () => {
  expect(await said([{ id: 'a', handler: 'noop', timeout: 30 }])).toEqual([
    'bad_duration: timeout is less than a millisecond: a number without a unit counts nanoseconds; write "30s" for seconds',
  ]);
  expect(await said([{ id: 'a', handler: 'noop', timeout: 30_000_000_000 }])).toEqual([]);
  expect(await said([{ id: 'a', handler: 'noop', timeout: '1us' }])).toEqual([]);
});
