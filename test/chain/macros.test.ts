import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expandMacros, expandStrings } from '../../src/chain/macros.ts';
import { scopeWith } from './scope.ts';

const expand = (text: string, given: Parameters<typeof scopeWith>[0] = {}): string =>
  expandMacros(text, scopeWith(given), 'system_instruction');

describe('variables', () => {
  test('insert the value as data, braces and all', () => {
    const variables = { x: '{{ input }}{{var:model}}', model: 'm' };
    expect(expand('a {{var:x}} b', { variables })).toBe('a {{ input }}{{var:model}} b');
  });

  test('take the first alternative that is set and not empty, else the last text', () => {
    expect(expand('{{var:a|var:b|text}}', { variables: { a: '', b: 'two' } })).toBe('two');
    expect(expand('{{var:a|var:b|some text }}')).toBe('some text');
    expect(expand('{{var:a|var:b|}}')).toBe('');
    expect(expand('{{ var : a | var:b | x }}', { variables: { a: 'one' } })).toBe('one');
  });

  test('are found with - and _ exchanged', () => {
    expect(expand('{{var:plan-goal}}', { variables: { plan_goal: 'g' } })).toBe('g');
    expect(expand('{{var:plan_goal}}', { variables: { 'plan-goal': 'g' } })).toBe('g');
  });

  test('that are missing or empty fail, naming task, field and variable', () => {
    const message = 'missing_variable: task chat, system_instruction: the variable a is not set; pass --var name=value';
    expect(() => expand('{{var:a}}')).toThrow(message);
    expect(() => expand('{{var:a}}', { variables: { a: '' } })).toThrow(message);
    expect(() => expand('{{var:a|var:b}}')).toThrow('the variables a, b are not set');
  });

  test('are own members only', () => {
    expect(() => expand('{{var:constructor}}')).toThrow('the variable constructor is not set');
  });
});

describe('time', () => {
  const shown: readonly (readonly [string, string])[] = [
    ['{{now}}', '2026-03-07T14:05:09Z'],
    ['{{date}}', '2026-03-07'],
    ['{{now:2006-01-02T15:04:05Z07:00}}', '2026-03-07T14:05:09Z'],
    ['{{now:2006-01-02T15:04:05-07:00}}', '2026-03-07T14:05:09+00:00'],
    ['{{now:Monday, January _2 2006 at 3:04:05 PM}}', 'Saturday, March  7 2026 at 2:05:09 PM'],
    ['{{now:Mon Jan 2 06 15h}}', 'Sat Mar 7 26 14h'],
    ['{{now:002 03 4 5 pm 1}}', '066 02 5 9 pm 3'],
    ['{{now:05.000 05.000000 05.999 5.9}}', '09.042 09.042000 09.042 9'],
    ['{{now:Z0700 -0700 -07 MST}}', 'Z +0000 +00 UTC'],
    ['{{now:YYYY}}', 'YYYY'],
    ['{{now:RFC3339}}', 'RFC3339'],
    ['{{now:Month _2006}}', 'Month _2026'],
    ['{{date:}}', '2026-03-07'],
  ];
  test.each(shown)('%s', (text, expected) => {
    expect(expand(text)).toBe(expected);
  });

  test('is shown in the zone that is given, east and west of UTC', () => {
    const layout = '{{now:2006-01-02 15:04 Z07:00}}';
    expect(expand(layout, { timezone: 'Asia/Kolkata' })).toBe('2026-03-07 19:35 +05:30');
    expect(expand(layout, { timezone: 'America/New_York' })).toBe('2026-03-07 09:05 -05:00');
    expect(expand('{{now:MST}}', { timezone: 'America/New_York' })).toBe('EST');
  });

  test('counts days in ordinary and leap years', () => {
    expect(expand('{{now:002}}', { now: Date.UTC(2025, 11, 31) })).toBe('365');
    expect(expand('{{now:002}}', { now: Date.UTC(2024, 11, 31) })).toBe('366');
    expect(expand('{{now:002}}', { now: Date.UTC(2025, 1, 28) })).toBe('059');
  });

  test('counts midnight and noon as twelve', () => {
    expect(expand('{{now:3PM}}', { now: Date.UTC(2026, 0, 1, 0) })).toBe('12AM');
    expect(expand('{{now:03pm}}', { now: Date.UTC(2026, 0, 1, 12) })).toBe('12pm');
  });
});

describe('state of the run', () => {
  const tools = [
    { tools: 'web', tool: 'web_get' },
    { tools: 'local_fs', tool: 'read_file' },
    { tools: 'local_fs', tool: 'grep' },
  ];

  test('lists the tools of the task, sorted, without hidden ones', () => {
    const given = { tools, hide_tools: ['web_get'] };
    expect(expand('{{tools}}', { tools })).toBe('{"local_fs":["grep","read_file"],"web":["web_get"]}');
    expect(expand('{{toolservice:list}}', given)).toBe('{"local_fs":["grep","read_file"]}');
    expect(expand('{{toolservice:tools}}', { tools })).toBe('["local_fs","web"]');
    expect(expand('{{toolservice:tools local_fs}} {{toolservice:tools x}}', { tools })).toBe('["grep","read_file"] []');
    expect(expand('{{tools}}')).toBe('{}');
  });

  test('shows chain, host and edge counts', () => {
    const edge_counts = { 'a->b': 3 };
    expect(
      expand('{{chain:id}} {{host:os}}/{{host:arch}} {{edge_count:a->b}} {{edge_count:b->a}}', { edge_counts }),
    ).toBe('demo linux/amd64 3 0');
  });
});

test('what is no macro stays as it is', () => {
  for (const text of [
    '{{input}}',
    '{{ x.y }}',
    '{{foo:bar}}',
    '{{chain:x}}',
    '{{',
    '}}',
    '{{NOW}}',
    '{"a":{"b":{}}}',
  ]) {
    expect(expand(text)).toBe(text);
  }
  expect(expand('{{{chain:id}}}')).toBe('{demo}');
});

test('every string of a configuration is expanded, names of members are not', () => {
  const config = { model: '{{var:m}}', models: ['{{chain:id}}'], '{{now}}': 1, n: 2, none: null };
  expect(expandStrings(config, scopeWith({ variables: { m: 'x' } }), 'execute_config')).toEqual({
    model: 'x',
    models: ['demo'],
    '{{now}}': 1,
    n: 2,
    none: null,
  });
});

test('inserted data is never parsed again, whatever it is', () => {
  const piece = fc.constantFrom('{{', '}}', '{', '}', 'var:', 'now', 'x', ':', '|', ' ', '{{var:y}}', '{{now}}');
  const hostile = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(hostile, (value) => {
      fc.pre(value !== '');
      expect(expand('<{{var:x}}>', { variables: { x: value, y: 'no' } })).toBe(`<${value}>`);
    }),
  );
});
