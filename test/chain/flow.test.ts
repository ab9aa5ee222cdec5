import { describe, expect, test } from 'vitest';
import { readChain } from '../../src/chain/document.ts';

type Json = Readonly<Record<string, unknown>>;

const task = (id: string, handler: string, to: string | null, members: Json = {}): Json => ({
  id,
  handler,
  ...(handler === 'tools' ? { tools: { name: 'echo' } } : {}),
  ...(to === null ? {} : { transition: { branches: [{ operator: 'default', goto: to }] } }),
  ...members,
});

const found = async (...tasks: readonly Json[]): Promise<string[]> =>
  (await readChain(JSON.stringify({ id: 'demo', tasks }))).findings.map(
    ({ severity, code, path }) => `${severity} ${code} ${path}`,
  );

describe('types along edges', () => {
  test('a number never is a history', async () => {
    expect(
      await found(
        task('a', 'prompt_to_int', 'b'),
        task('b', 'execute_tool_calls', 'c'),
        task('c', 'chat_completion', 'end', { input_var: 'b' }),
      ),
    ).toEqual(['error input_type_mismatch /tasks/1']);
  });

  test('a prompt template makes text of anything', async () => {
    const members = { prompt_template: 'n = {{ a }}' };
    expect(await found(task('a', 'prompt_to_int', 'b'), task('b', 'chat_completion', 'end', members))).toEqual([]);
  });

  test('one path with a fitting type is enough', async () => {
    const first = task('a', 'prompt_to_condition', null, {
      valid_conditions: { yes: true, no: false },
      transition: {
        branches: [
          { operator: 'equals', when: 'true', goto: 'b' },
          { operator: 'default', goto: 'c' },
        ],
      },
    });
    expect(await found(first, task('b', 'prompt_to_string', 'c'), task('c', 'chat_completion', 'end'))).toEqual([]);
  });

  test('an input_var brings its own type', async () => {
    expect(
      await found(
        task('a', 'prompt_to_float', 'b'),
        task('b', 'route', null, {
          input_var: 'a',
          transition: { branches: [{ operator: 'equals', when: 'x', goto: 'end' }, { operator: 'default' }] },
        }),
      ),
    ).toEqual(['error input_type_mismatch /tasks/1/input_var']);
    expect(
      await found(task('a', 'prompt_to_float', 'b'), task('b', 'chat_completion', 'end', { input_var: 'input' })),
    ).toEqual([]);
  });

  test('a composed history fits where the output alone does not', async () => {
    const compose = { with_var: 'a', strategy: 'merge_chat_histories' };
    const branches = [{ operator: 'default', goto: 'c', compose }];
    expect(
      await found(
        task('a', 'chat_completion', 'b'),
        task('b', 'prompt_to_int', null, { transition: { branches } }),
        task('c', 'chat_completion', 'end'),
      ),
    ).toEqual([]);
  });

  test('behind a failure stands the partial output or the input', async () => {
    const failing = { transition: { on_failure: 'c', branches: [{ operator: 'default', goto: 'end' }] } };
    expect(
      await found(
        task('a', 'chat_completion', 'b'),
        task('b', 'prompt_to_int', null, failing),
        task('c', 'chat_completion', 'end'),
      ),
    ).toEqual([]);
  });
});

describe('variables', () => {
  test('of a task that runs later are not ready', async () => {
    expect(await found(task('a', 'chat_completion', 'b', { input_var: 'b' }), task('b', 'noop', 'end'))).toEqual([
      'error input_var_not_ready /tasks/0/input_var',
    ]);
  });

  test('of a loop are set on some paths only', async () => {
    const a = task('a', 'noop', null, {
      input_var: 'b',
      transition: {
        branches: [
          { operator: 'edge_traversed_at_least', edge: 'b->a', when: '3', goto: 'end' },
          { operator: 'default', goto: 'b' },
        ],
      },
    });
    expect(await found(task('s', 'noop', 'a'), a, task('b', 'noop', 'a'))).toEqual([
      'warning input_var_maybe /tasks/1/input_var',
    ]);
  });

  test('are named one by one', async () => {
    expect(await found(task('a', 'noop', 'end', { input_var: 'vars' }))).toEqual([
      'error input_var_unknown /tasks/0/input_var',
    ]);
  });

  test('of errors are set behind on_failure', async () => {
    const failing = { transition: { on_failure: 'b', branches: [{ operator: 'default', goto: 'end' }] } };
    expect(
      await found(task('a', 'chat_completion', null, failing), task('b', 'noop', 'end', { input_var: 'last_error' })),
    ).toEqual([]);
    expect(
      await found(task('a', 'chat_completion', null, failing), task('b', 'noop', 'end', { input_var: 'a_error' })),
    ).toEqual([]);
    expect(
      await found(task('a', 'chat_completion', 'b'), task('b', 'noop', 'end', { input_var: 'last_error' })),
    ).toEqual(['error input_var_not_ready /tasks/1/input_var']);
  });

  test('of compose are named after task and branch', async () => {
    const branches = [{ operator: 'equals', when: 'tools_executed', goto: 'b', compose: { with_var: 'input' } }];
    expect(
      await found(
        task('a', 'tools', null, { transition: { branches } }),
        task('b', 'noop', 'end', { input_var: 'a_tools_executed_composed' }),
      ),
    ).toEqual([]);
  });
});

describe('paths', () => {
  test('a task that no path leads to is unreachable', async () => {
    expect(await found(task('a', 'noop', 'end'), task('b', 'noop', 'end'))).toEqual([
      'warning unreachable_task /tasks/1',
    ]);
  });

  test('a broken target may mean any task', async () => {
    expect(
      await found(task('a', 'noop', 'x'), task('b', 'noop', 'end', { input_var: 'c' }), task('c', 'noop', 'b')),
    ).toEqual(['error unknown_target /tasks/0/transition/branches/0/goto']);
  });

  test('a loop of a model task needs a bound', async () => {
    expect(await found(task('a', 'chat_completion', 'b'), task('b', 'noop', 'a'))).toEqual([
      'warning unbounded_loop /tasks/0',
    ]);
    const bounded = {
      transition: {
        branches: [
          { operator: 'edge_traversed_at_least', edge: 'b->a', when: '5', goto: 'end' },
          { operator: 'default', goto: 'a' },
        ],
      },
    };
    expect(await found(task('a', 'chat_completion', 'b'), task('b', 'noop', null, bounded))).toEqual([]);
  });

  test('so does a loop without a model, which would call its tool or move until it may not', async () => {
    const read = { tools: { name: 'local_fs', tool_name: 'read_file', args: { path: 'x' } } };
    const again = { transition: { on_failure: 'b' } };
    expect(await found(task('a', 'tools', null, { ...read, ...again }), task('b', 'noop', 'a'))).toEqual([
      'warning unbounded_loop /tasks/0',
    ]);
    expect(await found(task('a', 'noop', 'b'), task('b', 'noop', 'a'))).toEqual(['warning unbounded_loop /tasks/0']);
  });

  test('a bound of another loop does not count', async () => {
    const start = {
      transition: {
        branches: [
          { operator: 'edge_traversed_at_least', edge: 'b->a', when: '5', goto: 'end' },
          { operator: 'default', goto: 'a' },
        ],
      },
    };
    expect(
      await found(task('s', 'noop', null, start), task('a', 'chat_completion', 'b'), task('b', 'noop', 'a')),
    ).toEqual(['warning unbounded_loop /tasks/1']);
  });

  test('rounds of tool calls are bounded by max-rounds', async () => {
    const rounds = {
      transition: {
        branches: [
          { operator: 'equals', when: 'executed', goto: 'end' },
          { operator: 'default', goto: 'b' },
        ],
      },
    };
    expect(await found(task('a', 'chat_completion', null, rounds), task('b', 'execute_tool_calls', 'a'))).toEqual([]);
    expect(await found(task('a', 'chat_completion', 'b'), task('b', 'execute_tool_calls', 'a'))).toEqual([
      'warning unbounded_loop /tasks/0',
    ]);
  });

  test('results must come to a model', async () => {
    const rounds = {
      transition: {
        branches: [
          { operator: 'equals', when: 'executed', goto: 'end' },
          { operator: 'default', goto: 'b' },
        ],
      },
    };
    expect(
      await found(
        task('a', 'chat_completion', null, { ...rounds, input_var: 'input' }),
        task('b', 'execute_tool_calls', 'a'),
      ),
    ).toEqual(['warning loop_drops_results /tasks/1']);
    expect(
      await found(
        task('a', 'chat_completion', 'b'),
        task('b', 'execute_tool_calls', 'c'),
        task('c', 'noop', 'd'),
        task('d', 'chat_completion', 'end'),
      ),
    ).toEqual([]);
    expect(
      await found(
        task('a', 'chat_completion', 'b'),
        task('b', 'execute_tool_calls', 'c'),
        task('c', 'chat_completion', 'end', { prompt_template: '{{ b | transcript }}' }),
      ),
    ).toEqual([]);
  });
});

test('500 tasks with dense transitions are checked', async () => {
  const tasks = Array.from({ length: 500 }, (_, at) =>
    task(`t${at}`, 'chat_completion', null, {
      input_var: at === 0 ? 'input' : `t${at - 1}`,
      transition: {
        branches: [
          { operator: 'equals', when: 'executed', goto: 'end' },
          ...[1, 2, 3].map((step) => ({
            operator: 'edge_traversed_at_least',
            edge: `t${at}->t${(at + 1) % 500}`,
            when: `${9 - step}`,
            goto: `t${(at * step) % 500}`,
          })),
          { operator: 'default', goto: `t${(at + 1) % 500}` },
        ],
      },
    }),
  );
  const findings = await found(...tasks);
  expect(findings.filter((finding) => finding.startsWith('error'))).toEqual([]);
});

test('500 tasks whose moves all lead backwards are checked as fast', { timeout: 10_000 }, async () => {
  // What is known comes one task further each time that all are gone through.
  const tasks = Array.from({ length: 500 }, (_, at) =>
    task(`t${at}`, 'execute_tool_calls', null, {
      input_var: `t${(at * 7 + 1) % 500}`,
      transition: {
        branches: Array.from({ length: 8 }, (_each, step) => ({
          operator: 'edge_traversed_at_least',
          edge: `t${at}->t${at}`,
          when: `${9 - step}`,
          goto: `t${(at + 500 - 1 - (step % 4)) % 500}`,
        })),
      },
    }),
  );
  const findings = await found(...tasks);
  expect(findings.filter((finding) => finding.includes('loop_drops_results'))).toHaveLength(500);
});
