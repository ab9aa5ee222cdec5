import { describe, expect, test } from 'vitest';
import { readChain } from '../../src/chain/document.ts';
import type { Finding } from '../../src/schema/chain.ts';

type Json = Readonly<Record<string, unknown>>;

const chat: Json = { id: 'chat', handler: 'chat_completion' };
const chainOf = (...tasks: readonly Json[]): string => JSON.stringify({ id: 'demo', tasks });
const taskWith = (members: Json): string => chainOf({ ...chat, ...members });
const branchesOf = (...branches: readonly Json[]): Json => ({ transition: { branches } });

/** `severity code path`, in order. */
const brief = (findings: readonly Finding[]): string[] =>
  findings.map(({ severity, code, path }) => `${severity} ${code} ${path}`);

const found = async (text: string, providers?: readonly string[]): Promise<string[]> =>
  brief((await readChain(text, providers === undefined ? {} : { providers })).findings);

describe('the file', () => {
  test('may begin with a byte order mark', async () => {
    const bytes = new TextEncoder().encode(`\ufeff${chainOf(chat)}`);
    expect((await readChain(bytes)).findings).toEqual([]);
  });

  const refused: readonly (readonly [string, string, Omit<Finding, 'message' | 'severity'>])[] = [
    ['a comment', '{\n  // no\n}', { code: 'not_json', path: '', line: 2, column: 3 }],
    ['a trailing comma', '{"id":"a",}', { code: 'not_json', path: '', line: 1, column: 11 }],
    ['a trailing comma in a list', '{"tasks":[1,]}', { code: 'not_json', path: '', line: 1, column: 13 }],
    ['single quotes', "{'id':1}", { code: 'not_json', path: '', line: 1, column: 2 }],
    ['a missing value', '{"id":}', { code: 'not_json', path: '', line: 1, column: 7 }],
    ['a number with a leading zero', '{"id":01}', { code: 'not_json', path: '', line: 1, column: 8 }],
    ['an unknown escape', '{"id":"\\x"}', { code: 'not_json', path: '', line: 1, column: 7 }],
    ['a raw line feed in a string', '{"id":"a\nb"}', { code: 'not_json', path: '', line: 1, column: 9 }],
    ['a second document', '{} {}', { code: 'not_json', path: '', line: 1, column: 4 }],
    ['an open string', '{"id":"abc', { code: 'not_json', path: '', line: 1, column: 7 }],
    ['nothing', '', { code: 'not_json', path: '', line: 1, column: 1 }],
  ];
  test.each(refused)('with %s is refused', async (_, text, where) => {
    const { chain, findings } = await readChain(text);
    expect(chain).toBeNull();
    expect(findings).toEqual([{ severity: 'error', ...where, message: expect.any(String) }]);
  });

  test('with bytes that are no UTF-8 is refused at the first of them', async () => {
    const bytes = new Uint8Array([0x7b, 0x0a, 0x22, 0xc3, 0xa4, 0xff, 0x22, 0x7d]);
    const { findings } = await readChain(bytes);
    expect(findings).toMatchObject([{ code: 'not_utf8', line: 2, column: 3 }]);
  });

  test('above 1 MiB is refused unread', async () => {
    expect(await found(' '.repeat(1024 * 1024 + 1))).toEqual(['error too_large ']);
  });

  test('may be nested 64 levels deep and no deeper', async () => {
    const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(await found(nested(64))).toEqual(['error bad_type ']);
    expect(await found(nested(65))).toEqual(['error too_deep ']);
  });

  test('with a string above 256 KiB is refused', async () => {
    expect(await found(taskWith({ description: 'ä'.repeat(128 * 1024) }))).toEqual([]);
    expect(await found(taskWith({ description: 'ä'.repeat(128 * 1024 + 1) }))).toEqual([
      'error too_large /tasks/0/description',
    ]);
  });

  test('reports repeated and forbidden members together, each at its name', async () => {
    const text = `{
  "id": "demo", "id": "again",
  "tasks": [ { "id": "chat", "handler": "chat_completion", "__proto__": {}, "x-a": { "constructor": 1 } } ],
  "prototype": 1
}`;
    expect((await readChain(text)).findings.map(({ code, path, line, column }) => [code, path, line, column])).toEqual([
      ['duplicate_key', '/id', 2, 17],
      ['forbidden_key', '/tasks/0/__proto__', 3, 60],
      ['forbidden_key', '/tasks/0/x-a/constructor', 3, 86],
      ['forbidden_key', '/prototype', 4, 3],
    ]);
  });

  test('may hold members of people', async () => {
    const text = chainOf({ ...chat, 'x-note': 1, _comment: 'a', _comment2: 'b' });
    expect(await found(text.replace('{', '{"$schema":"s",'))).toEqual([]);
  });

  test('never makes a reader throw, however it is cut or changed', async () => {
    const text = chainOf({
      ...chat,
      system_instruction: 'a {{var:x|y}} \u00e4 \ud83d\ude00 {{now:2006}}',
      prompt_template: '{% if a %}{{ .b | json }}{% endif %}',
      ...branchesOf({ operator: 'in_range', when: '-10--2', goto: 'end', compose: { with_var: 'input' } }),
    });
    for (let cut = 0; cut < text.length; cut += 1) {
      expect((await readChain(text.slice(0, cut))).chain).toBeNull();
      for (const char of ['"', '}', '{', '\\', '0', ' ']) {
        const { chain, findings } = await readChain(text.slice(0, cut) + char + text.slice(cut + 1));
        expect(chain === null).toBe(findings.some(({ severity }) => severity === 'error'));
      }
    }
  });
});

test('a document without an error is returned as it is, and as text for a worker', async () => {
  const document = { id: 'demo', tasks: [{ ...chat, 'x-a': [null, 1.5, true], execute_config: { tools: null } }] };
  const { chain, text } = await readChain(JSON.stringify(document, null, 2));
  expect(chain).toEqual(document);
  expect(JSON.parse(text)).toEqual(document);
});

test('all findings of a document come together, by position', async () => {
  const text = `{
  "id": "demo",
  "colour": "red",
  "tasks": [
    { "id": "end", "handler": "noop" },
    { "id": "b", "handler": "prompt_to_js",
      "transition": { "branches": [ { "operator": "", "goto": "b" }, { "operator": "default", "goto": "nowhere" } ] } },
    { "id": "c", "handler": "chat_completion", "timeout": "soon", "shape": 1 }
  ]
}`;
  const { chain, findings } = await readChain(text);
  expect(chain).toBeNull();
  expect(findings.map(({ severity, code, path, line, column }) => [severity, code, path, line, column])).toEqual([
    ['warning', 'unknown_member', '/colour', 3, 3],
    ['error', 'reserved_id', '/tasks/0/id', 5, 13],
    ['error', 'unknown_handler', '/tasks/1/handler', 6, 29],
    ['error', 'unknown_operator', '/tasks/1/transition/branches/0/operator', 7, 51],
    ['error', 'unknown_target', '/tasks/1/transition/branches/1/goto', 7, 103],
    ['error', 'bad_duration', '/tasks/2/timeout', 8, 59],
    ['warning', 'unknown_member', '/tasks/2/shape', 8, 67],
  ]);
});

describe('structure', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['an empty object', '{}', ['error missing_member ', 'error missing_member ']],
    ['a list', '[]', ['error bad_type ']],
    ['no tasks', chainOf(), ['error no_tasks /tasks']],
    ['a chain id with a blank', '{"id":"a b","tasks":[{"id":"a","handler":"noop"}]}', ['error bad_id /id']],
    ['a task without id and handler', chainOf({}), ['error missing_member /tasks/0', 'error missing_member /tasks/0']],
    ['a task id with a slash', taskWith({ id: 'a/b' }), ['error bad_id /tasks/0/id']],
    ['a task id that begins with a dot', taskWith({ id: '.a' }), ['error bad_id /tasks/0/id']],
    ['two equal ids', chainOf(chat, chat), ['error duplicate_id /tasks/1/id']],
    ['a task id that no template reads', taskWith({ id: '__proto__' }), ['error reserved_id /tasks/0/id']],
    ['a task that is text', '{"id":"a","tasks":["x"]}', ['error bad_type /tasks/0']],
    [
      'wrong types',
      taskWith({ description: 1, retry_on_failure: 1.5, execute_config: { shift: 'yes', models: [1] } }),
      [
        'error bad_type /tasks/0/description',
        'error bad_type /tasks/0/retry_on_failure',
        'error bad_type /tasks/0/execute_config/shift',
        'error bad_type /tasks/0/execute_config/models',
      ],
    ],
    ['a near handler', chainOf({ id: 'a', handler: 'chat_complete' }), ['error unknown_handler /tasks/0/handler']],
    ['tools without a block', chainOf({ id: 'a', handler: 'tools' }), ['error missing_tools_block /tasks/0']],
    [
      'tools without a name',
      chainOf({ id: 'a', handler: 'tools', tools: {} }),
      ['error bad_tools_block /tasks/0/tools'],
    ],
    [
      'conditions that are missing',
      chainOf({ id: 'a', handler: 'prompt_to_condition' }),
      ['error missing_conditions /tasks/0'],
    ],
    [
      'conditions equal but for case',
      chainOf({ id: 'a', handler: 'prompt_to_condition', valid_conditions: { yes: true, YES: false } }),
      ['error missing_conditions /tasks/0/valid_conditions/YES'],
    ],
    [
      'a condition that is text',
      chainOf({ id: 'a', handler: 'prompt_to_condition', valid_conditions: { yes: 'true' } }),
      ['error bad_type /tasks/0/valid_conditions/yes'],
    ],
    [
      'a route without labels',
      chainOf({ id: 'a', handler: 'route', ...branchesOf({ operator: 'default' }) }),
      ['error route_without_labels /tasks/0'],
    ],
    [
      'labels equal but for case',
      chainOf({
        id: 'a',
        handler: 'route',
        ...branchesOf({ operator: 'equals', when: 'x' }, { operator: 'equals', when: 'X' }, { operator: 'default' }),
      }),
      ['error route_without_labels /tasks/0/transition/branches/1'],
    ],
    [
      'on_failure to a missing task',
      taskWith({ transition: { on_failure: 'x' } }),
      ['error unknown_target /tasks/0/transition/on_failure'],
    ],
    [
      'an edge without an arrow',
      taskWith(branchesOf({ operator: 'edge_traversed_at_least', edge: 'chat', when: '1' })),
      ['error bad_edge /tasks/0/transition/branches/0/edge'],
    ],
    [
      'an edge of a missing task',
      taskWith(branchesOf({ operator: 'edge_traversed_at_least', edge: 'chat->x', when: '1' })),
      ['error bad_edge /tasks/0/transition/branches/0/edge'],
    ],
    [
      'an edge that is missing',
      taskWith(branchesOf({ operator: 'edge_traversed_at_least', when: '1' })),
      ['error missing_member /tasks/0/transition/branches/0'],
    ],
    [
      'a strategy that there is not',
      taskWith(branchesOf({ operator: 'default', compose: { with_var: 'input', strategy: 'mix' } })),
      ['error bad_strategy /tasks/0/transition/branches/0/compose/strategy'],
    ],
    ['an input_var that there is not', taskWith({ input_var: 'x' }), ['error input_var_unknown /tasks/0/input_var']],
    [
      '201 branches',
      taskWith(branchesOf(...Array.from({ length: 201 }, (_, at) => ({ operator: 'contains', when: `${at} ` })))),
      ['error too_large /tasks/0/transition/branches'],
    ],
  ];
  test.each(cases)('%s', async (_, text, expected) => {
    expect(await found(text)).toEqual(expected);
  });

  test('a chain has at most 500 tasks', async () => {
    const tasks = Array.from({ length: 501 }, (_, at) => ({
      id: `t${at}`,
      handler: 'noop',
      ...branchesOf({ operator: 'default', goto: at < 499 ? `t${at + 1}` : 'end' }),
    }));
    expect(await found(chainOf(...tasks))).toEqual(['error too_large /tasks']);
  });

  test('an unknown handler is answered with the nearest known one', async () => {
    const message = async (handler: string): Promise<string | undefined> =>
      (await readChain(chainOf({ id: 'a', handler }))).findings[0]?.message;
    expect(await message('chat_complete')).toBe('there is no handler "chat_complete"; did you mean chat_completion?');
    expect(await message('chat_completoin')).toContain('did you mean chat_completion?');
    expect(await message('prompt_to_js')).toContain('the handlers are chat_completion, execute_tool_calls, tools, ');
  });
});

test('a target that no task has is answered with a near one, and with none that only is there', async () => {
  const message = async (goto: string): Promise<string | undefined> =>
    (
      await readChain(
        chainOf(
          { id: 'a', handler: 'noop', ...branchesOf({ operator: 'default', goto }) },
          { id: 'answer', handler: 'noop' },
        ),
      )
    ).findings.find(({ code }) => code === 'unknown_target')?.message;
  expect(await message('anwser')).toBe('there is no task "anwser"; did you mean answer?');
  expect(await message('zz')).toBe('there is no task "zz"');
});

describe('operands', () => {
  const when = (operator: string, value: string): string =>
    chainOf({
      id: 'a',
      handler: 'prompt_to_string',
      ...branchesOf({ operator, when: value }, { operator: 'default' }),
    });
  const good: readonly (readonly [string, string])[] = [
    ['equals', ''],
    ['contains', 'x'],
    ['gt', '-1.5'],
    ['>', '3'],
    ['<', '3'],
    ['in_range', '-10--2'],
    ['in_range', '1-1'],
  ];
  test.each(good)('%s takes %j', async (operator, value) => {
    expect(await found(when(operator, value))).toEqual([]);
  });

  const bad: readonly (readonly [string, string])[] = [
    ['contains', ''],
    ['gt', 'many'],
    ['lt', '1 apple'],
    ['in_range', '5-1'],
    ['in_range', '5'],
  ];
  test.each(bad)('%s does not take %j', async (operator, value) => {
    expect(await found(when(operator, value))).toEqual(['error bad_operand /tasks/0/transition/branches/0/when']);
  });

  test('an edge is counted from one upwards', async () => {
    const text = (count: string): string =>
      taskWith(branchesOf({ operator: 'edge_traversed_at_least', edge: 'chat->chat', when: count }));
    expect(await found(text('0'))).toEqual(['error bad_operand /tasks/0/transition/branches/0/when']);
    expect(await found(text('1.5'))).toEqual(['error bad_operand /tasks/0/transition/branches/0/when']);
    expect(await found(text('1'))).toEqual([]);
  });
});

describe('values', () => {
  const config = (members: Json): string => taskWith({ execute_config: members });
  const at = (code: string, ...paths: readonly string[]): string[] =>
    paths.map((path) => `error ${code} /tasks/0/${path}`);
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['temperature', config({ temperature: 2.1 }), at('out_of_range', 'execute_config/temperature')],
    ['max_tokens', config({ max_tokens: -1 }), at('out_of_range', 'execute_config/max_tokens')],
    ['max_tokens as text', config({ max_tokens: 'many' }), at('out_of_range', 'execute_config/max_tokens')],
    ['think', config({ think: 'hard' }), at('out_of_range', 'execute_config/think')],
    ['a limit that is a macro', taskWith({ timeout: '{{var:limit}}' }), at('bad_duration', 'timeout')],
    [
      'durations',
      taskWith({ timeout: '0s', execute_config: { retry_policy: { max_backoff: -1, initial_backoff: '1 s' } } }),
      [
        ...at(
          'bad_duration',
          'timeout',
          'execute_config/retry_policy/max_backoff',
          'execute_config/retry_policy/initial_backoff',
        ),
      ],
    ],
    [
      'retry limits',
      config({ retry_policy: { max_attempts: 21, jitter: 1.1, fallback_after: -1 } }),
      [
        ...at(
          'out_of_range',
          'execute_config/retry_policy/max_attempts',
          'execute_config/retry_policy/jitter',
          'execute_config/retry_policy/fallback_after',
        ),
      ],
    ],
    [
      'compaction limits',
      config({ compact_policy: { trigger_fraction: 0.05, keep_recent: -1 } }),
      [
        ...at(
          'out_of_range',
          'execute_config/compact_policy/trigger_fraction',
          'execute_config/compact_policy/keep_recent',
        ),
      ],
    ],
    ['input_max_bytes', taskWith({ input_max_bytes: 0 }), at('out_of_range', 'input_max_bytes')],
    ['retry_on_failure', taskWith({ retry_on_failure: 21 }), at('out_of_range', 'retry_on_failure')],
    [
      'limits of tools',
      config({ tools_policies: { local_fs: { _max_list_depth: '0', _max_read_bytes: 'all' } } }),
      [
        ...at(
          'out_of_range',
          'execute_config/tools_policies/local_fs/_max_list_depth',
          'execute_config/tools_policies/local_fs/_max_read_bytes',
        ),
      ],
    ],
  ];
  test.each(cases)('outside their limits: %s', async (_, text, expected) => {
    expect(await found(text)).toEqual(expected);
  });

  test('that hold macros are left to the run', async () => {
    const text = config({
      max_tokens: '{{var:max|}}',
      retry_policy: { initial_backoff: '{{var:backoff|1s}}' },
      think: '{{var:think|}}',
      tools: ['{{var:tools}}'],
      tools_policies: { local_fs: { _max_list_depth: '{{var:depth}}' } },
    });
    expect(await found(text, [])).toEqual([]);
  });

  test('a negative number of retries counts as none, with a warning', async () => {
    const { chain, findings } = await readChain(taskWith({ retry_on_failure: -3 }));
    expect(brief(findings)).toEqual(['warning out_of_range /tasks/0/retry_on_failure']);
    expect(chain?.tasks[0]?.retry_on_failure).toBe(0);
  });

  test('numbers and booleans of tool limits become text', async () => {
    const limits = { local_fs: { _max_list_depth: 5, _denied_path_substrings: true } };
    const { chain } = await readChain(config({ tools_policies: limits }));
    expect(chain?.tasks[0]?.execute_config?.tools_policies).toEqual({
      local_fs: { _max_list_depth: '5', _denied_path_substrings: 'true' },
    });
  });
});

describe('macros and templates', () => {
  const loop = branchesOf({ operator: 'equals', when: 'executed' }, { operator: 'default', goto: 'end' });
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['{{var:}}', taskWith({ system_instruction: 'a {{var:}}' }), ['error bad_macro /tasks/0/system_instruction']],
    [
      'an unknown part of toolservice',
      taskWith({ prompt_template: '{{toolservice:all}}' }),
      ['error bad_macro /tasks/0/prompt_template'],
    ],
    [
      'an edge of a missing task',
      taskWith({ system_instruction: '{{edge_count:chat->x}}', ...loop }),
      ['error bad_edge /tasks/0/system_instruction'],
    ],
    [
      'no macro in a plain field',
      taskWith({ system_instruction: 'a {{ input }} {{foo:x}} b' }),
      ['warning unknown_macro /tasks/0/system_instruction', 'warning unknown_macro /tasks/0/system_instruction'],
    ],
    [
      'a named layout',
      taskWith({ system_instruction: '{{now:RFC3339}} {{date:YYYY}} {{now:15:04}}' }),
      ['warning named_layout /tasks/0/system_instruction', 'warning named_layout /tasks/0/system_instruction'],
    ],
    [
      'an unknown variable',
      taskWith({ prompt_template: '{{ input }}{{ inptu }}{{ chat }}{{ chat_error }}{{ vars }}' }),
      ['warning unknown_variable /tasks/0/prompt_template'],
    ],
    [
      'an include',
      taskWith({ prompt_template: '{% include "x" %}' }),
      ['error forbidden_tag /tasks/0/prompt_template'],
    ],
    [
      'an unknown filter in an argument',
      chainOf({ id: 'a', handler: 'tools', tools: { name: 'echo', args: { input: ['{{ input | nofilter }}'] } } }),
      ['error bad_template /tasks/0/tools/args/input/0'],
    ],
    [
      'names of a tool output',
      chainOf({ id: 'a', handler: 'tools', tools: { name: 'echo' }, output_template: '{{ status }}' }),
      [],
    ],
    [
      'macros of a configuration',
      taskWith({ execute_config: { models: ['{{nope}}'] } }),
      ['warning unknown_macro /tasks/0/execute_config/models/0'],
    ],
  ];
  test.each(cases)('%s', async (_, text, expected) => {
    expect(await found(text)).toEqual(expected);
  });

  test('defects inside a string are found at their own line and column', async () => {
    const text = `{ "id": "d", "tasks": [ { "id": "chat", "handler": "chat_completion",
  "prompt_template": "one\\n\\u00e4 {{ input | nofilter }}" } ] }`;
    expect((await readChain(text)).findings).toEqual([
      {
        severity: 'error',
        code: 'bad_template',
        path: '/tasks/0/prompt_template',
        line: 2,
        column: 35,
        message: 'undefined filter: nofilter',
      },
    ]);
  });
});

test('several findings of one string keep their places', async () => {
  const text =
    '{"id":"d","tasks":[{"id":"a","handler":"chat_completion","system_instruction":"{{a}}\\n\\u00e4{{b}} {{c}}"}]}';
  const start = text.indexOf('{{a}}') + 1;
  expect((await readChain(text)).findings.map(({ code, column }) => [code, column - start])).toEqual([
    ['unknown_macro', 0],
    ['unknown_macro', 13],
    ['unknown_macro', 19],
  ]);
});

describe('the hook dialect', () => {
  const dialect = {
    id: 'demo',
    tasks: [
      {
        id: 'chat',
        handler: 'chat_completion',
        system_instruction: 'Tools: {{hookservice:list}} {{ hookservice : hooks }}',
        execute_config: { hooks: ['*'], hook_policies: { local_fs: { _max_list_depth: 3 } } },
        transition: {
          branches: [
            { operator: 'equals', when: 'tool-call', goto: 'run' },
            { operator: 'default', goto: 'say' },
          ],
        },
      },
      {
        id: 'run',
        handler: 'execute_tool_calls',
        transition: {
          branches: [
            { operator: 'equals', when: 'no_op', goto: 'end' },
            { operator: 'default', goto: 'chat' },
          ],
        },
      },
      {
        id: 'say',
        handler: 'hook',
        hook: { name: 'echo', tool_name: 'echo', args: { input: '{{hookservice:hooks echo}}' } },
        transition: { branches: [{ operator: 'equals', when: 'ok', goto: 'end' }] },
      },
    ],
  };

  test('is read as its canonical form, each alias once', async () => {
    const { chain, findings } = await readChain(JSON.stringify(dialect));
    expect(chain).toEqual({
      id: 'demo',
      tasks: [
        {
          id: 'chat',
          handler: 'chat_completion',
          system_instruction: 'Tools: {{toolservice:list}} {{ toolservice : tools }}',
          execute_config: { tools: ['*'], tools_policies: { local_fs: { _max_list_depth: '3' } } },
          transition: {
            branches: [
              { operator: 'equals', when: 'tool_call', goto: 'run' },
              { operator: 'default', goto: 'say' },
            ],
          },
        },
        {
          id: 'run',
          handler: 'execute_tool_calls',
          transition: {
            branches: [
              { operator: 'equals', when: 'noop', goto: 'end' },
              { operator: 'default', goto: 'chat' },
            ],
          },
        },
        {
          id: 'say',
          handler: 'tools',
          tools: { name: 'echo', tool_name: 'echo', args: { input: '{{toolservice:tools echo}}' } },
          transition: { branches: [{ operator: 'equals', when: 'tools_executed', goto: 'end' }] },
        },
      ],
    });
    expect(brief(findings)).toEqual([
      'info alias_used /tasks/0/system_instruction',
      'info alias_used /tasks/0/system_instruction',
      'info alias_used /tasks/0/execute_config/hooks',
      'info alias_used /tasks/0/execute_config/hook_policies',
      'info alias_used /tasks/0/transition/branches/0/when',
      'info alias_used /tasks/1/transition/branches/0/when',
      'info alias_used /tasks/2/handler',
      'info alias_used /tasks/2/hook',
      'info alias_used /tasks/2/hook/args/input',
      'info alias_used /tasks/2/transition/branches/0/when',
    ]);
  });

  test('beside a canonical name is a conflict', async () => {
    expect(await found(taskWith({ execute_config: { hooks: ['*'], tools: ['web'] } }))).toEqual([
      'error alias_conflict /tasks/0/execute_config/hooks',
    ]);
  });

  test('keeps ok as an eval where an output template makes it one', async () => {
    const task = {
      id: 'a',
      handler: 'tools',
      tools: { name: 'echo' },
      output_template: '{{ output.status }}',
      ...branchesOf({ operator: 'equals', when: 'ok', goto: 'end' }, { operator: 'default' }),
    };
    expect(await found(chainOf(task))).toEqual([]);
  });
});

describe('warnings', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    [
      'a second default',
      taskWith(branchesOf({ operator: 'default' }, { operator: 'default', goto: 'chat' })),
      ['warning unbounded_loop /tasks/0', 'warning duplicate_default /tasks/0/transition/branches/1'],
    ],
    [
      'a branch that is never reached',
      taskWith(branchesOf({ operator: 'contains', when: 'exec' }, { operator: 'equals', when: 'executed' })),
      ['warning shadowed_branch /tasks/0/transition/branches/1'],
    ],
    [
      'an open eval without default',
      chainOf({ id: 'a', handler: 'prompt_to_string', ...branchesOf({ operator: 'equals', when: 'x' }) }),
      ['warning no_default /tasks/0/transition/branches'],
    ],
    [
      'an empty allowlist',
      taskWith({ execute_config: { tools: ['!web'] } }),
      ['warning allowlist_empty /tasks/0/execute_config/tools'],
    ],
    [
      'an allowlist that takes back what it gives',
      taskWith({ execute_config: { tools: ['web', 'local_fs.grep', '!web', '!local_fs.grep'] } }),
      ['warning allowlist_empty /tasks/0/execute_config/tools'],
    ],
    [
      'an unknown limit',
      taskWith({ execute_config: { tools_policies: { web: { _max: '1' }, mine: { a: 'b' } } } }),
      [
        'warning unknown_policy_key /tasks/0/execute_config/tools_policies/web/_max',
        'warning unknown_policy_key /tasks/0/execute_config/tools_policies/mine/a',
      ],
    ],
    [
      'members that are not read',
      chainOf({
        id: 'a',
        handler: 'noop',
        system_instruction: 'x',
        preface: 'x',
        execute_config: { model: 'm' },
        output_template: '',
        valid_conditions: { a: true },
      }),
      [
        'warning member_unused /tasks/0/system_instruction',
        'warning member_unused /tasks/0/preface',
        'warning member_unused /tasks/0/execute_config',
        'warning member_unused /tasks/0/valid_conditions',
      ],
    ],
    [
      'a configuration that is not read',
      chainOf({ id: 'a', handler: 'prompt_to_string', execute_config: { tools: ['web'], hide_tools: [], model: 'm' } }),
      ['warning member_unused /tasks/0/execute_config/tools'],
    ],
    ...([{}, { fallback_after: 0 }, { max_attempts: 3, fallback_after: 3 }, { fallback_after: 1 }] as const).map(
      (retry): [string, string, readonly string[]] => [
        `a fallback that is never asked: ${JSON.stringify(retry)}`,
        taskWith({ execute_config: { retry_policy: { fallback_model_id: 'm', ...retry } } }),
        ['warning member_unused /tasks/0/execute_config/retry_policy/fallback_model_id'],
      ],
    ),
    [
      'a fallback that is asked',
      taskWith({ execute_config: { retry_policy: { fallback_model_id: 'm', max_attempts: 2, fallback_after: 1 } } }),
      [],
    ],
    [
      'operands that are not read',
      taskWith(branchesOf({ operator: 'default', when: 'x', edge: '' })),
      ['warning member_unused /tasks/0/transition/branches/0/when'],
    ],
    [
      'a key',
      taskWith({ description: 'use sk-abcdefghijklmnopqrstuvwxyz012345' }),
      ['warning literal_secret /tasks/0/description'],
    ],
    [
      'an eval that never comes',
      taskWith(branchesOf({ operator: 'equals', when: 'done' }, { operator: 'default' })),
      ['error branch_never /tasks/0/transition/branches/0/when'],
    ],
    [
      'branches of raise_error',
      chainOf({ id: 'a', handler: 'raise_error', ...branchesOf({ operator: 'equals', when: 'x' }) }),
      ['warning member_unused /tasks/0/transition/branches'],
    ],
  ];
  test.each(cases)('%s', async (_, text, expected) => {
    expect(await found(text)).toEqual(expected);
  });

  test('of unknown providers need to know which are registered', async () => {
    const text = chainOf(
      {
        ...chat,
        execute_config: { tools: ['*', '!gone', 'mine', 'other.tool', 'local_shell'] },
        ...branchesOf({ operator: 'default', goto: 'b' }),
      },
      { id: 'b', handler: 'tools', tools: { name: 'third' } },
    );
    expect(await found(text)).toEqual([]);
    expect(await found(text, ['mine'])).toEqual([
      'warning unknown_provider /tasks/0/execute_config/tools/3',
      'warning unknown_provider /tasks/1/tools/name',
    ]);
  });
});
