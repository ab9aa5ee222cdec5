import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkTemplate } from '../../src/chain/check-template.ts';
import { renderTemplate } from '../../src/chain/template.ts';
import type { History } from '../../src/schema/message.ts';
import { scopeWith } from './scope.ts';

type Given = {
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly macros?: Readonly<Record<string, string>>;
  readonly output?: { readonly value: unknown };
};

const render = (text: string, { variables = {}, macros = {}, output }: Given = {}): Promise<string> =>
  renderTemplate(text, {
    field: 'prompt_template',
    scope: scopeWith({ variables: macros }),
    variables,
    ...(output === undefined ? {} : { output }),
  });

const history: History = {
  messages: [
    { id: '1', role: 'user', content: 'list', timestamp: '' },
    {
      id: '2',
      role: 'assistant',
      content: 'Let me look.',
      timestamp: '',
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'local_fs.list_dir', arguments: '{"path":"."}' } }],
    },
    { id: '3', role: 'tool', content: 'a\nb', timestamp: '', tool_call_id: 'c1' },
    { id: '4', role: 'assistant', content: '', timestamp: '', tool_calls: [] },
  ],
};

// Each of these is rendered twice: as it is, and behind a tag that needs the template library.
const cases: readonly (readonly [string, string, Given])[] = [
  ['{{ input }}', 'hello', { variables: { input: 'hello' } }],
  ['{{ .input }}', 'hello', { variables: { input: 'hello' } }],
  ['[{{ missing }}{{ a.b.c }}]', '[]', { variables: { a: { b: 1 } } }],
  ['{{ a }} {{ b }} {{ c }} {{ d }}', '1 true  0.5', { variables: { a: 1, b: true, c: null, d: 0.5 } }],
  ['{{ a }} {{ a.b }}', '{"b":[1,"x"]} [1,"x"]', { variables: { a: { b: [1, 'x'] } } }],
  ['{{ a.length }}', '2', { variables: { a: [1, 2] } }],
  ['{{ . }}', '{"a":1}', { variables: { a: 1 } }],
  ['{{ . }}', '{"a":1}', { variables: { a: 2 }, output: { value: { a: 1 } } }],
  ['{{ a }}{{ b }}', '12', { variables: { a: 9, b: 2 }, output: { value: { a: 1 } } }],
  ['{{ output }}', 'text', { output: { value: 'text' } }],
  ['{{ a.constructor }}{{ a.__proto__ }}{{ constructor }}', '', { variables: { a: {} } }],
  ['{{ a }}', '{"b":1}', { variables: { a: JSON.parse('{"b":1,"__proto__":{"c":2},"constructor":3}') } }],
  ['{{var:x}}|{{ y }}', '{{ y }}{{var:y}}|2', { variables: { y: 2 }, macros: { x: '{{ y }}{{var:y}}' } }],
  ['{{chain:id}} {{ chain }}', 'demo ', {}],
  ['}} %} { {x}', '}} %} { {x}', {}],
];

describe.each(cases)('%s', (text, expected, given) => {
  test('renders without the template library', async () => {
    expect(await render(text, given)).toBe(expected);
  });

  test('renders the same with it', async () => {
    expect(await render(`{% comment %}x{% endcomment %}${text}`, given)).toBe(expected);
  });
});

describe('rich templates', () => {
  const rich: readonly (readonly [string, string, Given])[] = [
    ['{{ vars["a.b"] }}', '5', { variables: { 'a.b': 5 } }],
    ['{{ vars["a-b"].c }}', '6', { variables: { 'a-b': { c: 6 } } }],
    ['{{ a | json }} {{ a | json: 2 }} {{ none | json }}', '[1] [\n  1\n] null', { variables: { a: [1] } }],
    ['{{ a | trunc: 3 }} {{ b | trunc: 3 }}', 'äb😀… abc', { variables: { a: 'äb😀cd', b: 'abc' } }],
    ['{% for i in .items %}{{ i }},{% endfor %}', '1,2,', { variables: { items: [1, 2] } }],
    ['{% for i in (1..3) %}{{ i }}{% endfor %}', '123', {}],
    ['{% if {{var:x}} == "a" %}yes{% endif %}', 'yes', { macros: { x: 'a' } }],
    ['{{ {{var:x}} | upcase }}', '{{ A }}', { macros: { x: '{{ a }}' } }],
    ['{% raw %}{{ a }} {{var:x}} {{ b }}{% endraw %}', '{{ a }} 7 {{ b }}', { macros: { x: '7' } }],
    ["{% # don't %}ok", 'ok', {}],
    ['{% if .a and . %}ok{% endif %}', 'ok', { variables: { a: 1 } }],
    ['{{ "a.b" }} {{ "x" | append: .y }}', 'a.b xz', { variables: { y: 'z' } }],
    ["{{ output.problems | join: '; ' }}", 'p; q', { output: { value: { problems: ['p', 'q'] } } }],
    ['{{ a | raw }}', '{"b":1}', { variables: { a: { b: 1 } } }],
    [
      '{{ a | upcase }} {{ "x" | append: a }} {{ a | truncate: 5 }}',
      '{"B":1} x{"b":1} {"...',
      { variables: { a: { b: 1 } } },
    ],
    [
      '{{ a | append: "!" }} {{ a | replace: "1", b }}',
      '[1,"c"]! [{"d":2},"c"]',
      { variables: { a: [1, 'c'], b: { d: 2 } } },
    ],
    ['{{ a | join: " + " }}', '1 + {"b":1} + [2,3] + ', { variables: { a: [1, { b: 1 }, [2, 3], null] } }],
    ['{{ a | escape }} {{ none | upcase }}{{ 5 | append: 6 }}', '{&#34;b&#34;:1} 56', { variables: { a: { b: 1 } } }],
    ['{% assign k = "__proto__" %}[{{ a[k] }}]', '[]', { variables: { a: JSON.parse('{"__proto__":{"c":2}}') } }],
    ['{{ a | map: "constructor" }}', '[null]', { variables: { a: [{}] } }],
    ['{% liquid\n  assign x = .y\n  echo x\n%}', '3', { variables: { y: 3 } }],
    ['{{ s | date: "%Y" }}', '2024', { variables: { s: '2024-05-06T00:00:00Z' } }],
    ['{% cycle 1, 2 %}{% increment n %}', '10', {}],
    ['{% increment a %}{% increment a %}{{ vars.a }}', '565', { variables: { a: 5 } }],
  ];
  test.each(rich)('%s', async (text, expected, given) => {
    expect(await render(text, given)).toBe(expected);
  });

  test('turn a history into a transcript, the newest kept', async () => {
    expect(await render('{{ input | transcript: 1000 }}', { variables: { input: history } })).toBe(
      'user: list\n\nassistant: Let me look.\nassistant calls local_fs.list_dir {"path":"."}\n\ntool local_fs.list_dir: a\nb\n\nassistant: ',
    );
    expect(await render('{{ input | transcript: 45 }}', { variables: { input: history } })).toBe(
      'tool local_fs.list_dir: a\nb\n\nassistant: ',
    );
  });

  test('find the last answer of an assistant', async () => {
    expect(await render('{{ input | last_assistant }}', { variables: { input: history } })).toBe('Let me look.');
    expect(await render('[{{ input | last_assistant }}]', { variables: { input: 'x' } })).toBe('[]');
  });
});

describe('limits', () => {
  const over: readonly (readonly [string, string, Given])[] = [
    ['loops', '{% for i in (1..10001) %}{% endfor %}', {}],
    ['nested loops', '{% for i in (1..200) %}{% for j in (1..200) %}{% endfor %}{% endfor %}', {}],
    ['table rows', '{% tablerow i in (1..10001) %}{% endtablerow %}', {}],
    ['ranges', '{% assign a = (1..1000000000) %}', {}],
    ['output', '{{ a }}{{ a }}', { variables: { a: 'x'.repeat(3 * 1024 * 1024) } }],
    [
      'captured output',
      '{% assign x = "0123456789" %}{% for i in (1..40) %}{% capture x %}{{ x }}{{ x }}{% endcapture %}{% endfor %}',
      {},
    ],
    ['nesting', '{% if true %}'.repeat(15_000), {}],
    ['template', 'x'.repeat(256 * 1024 + 1), {}],
  ];
  test.each(over)('of %s end the rendering', async (_, text, given) => {
    await expect(render(text, given)).rejects.toMatchObject({ code: 'template_limit' });
  });

  test('a large macro is data, not template', async () => {
    const x = '{{ a }}'.repeat(60_000);
    expect(await render('{{var:x}}', { macros: { x } })).toBe(x);
  });
});

test('the clock is not read by a filter', async () => {
  await expect(render('{{ a | date: "%Y" }}', { variables: { a: 'now' } })).rejects.toMatchObject({
    code: 'task_error',
    message: expect.stringContaining('does not read the clock'),
  });
});

test('a macro that is not set fails naming task, field and variable', async () => {
  await expect(render('{{var:a}}')).rejects.toThrow('task chat, prompt_template: the variable a is not set');
});

test('what a macro or a variable holds is never parsed again', async () => {
  const piece = fc.constantFrom('{{', '}}', '{%', '%}', ' endraw ', ' raw ', 'input', '"', "'", '|', '{{var:y}}', '\n');
  const hostile = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  await fc.assert(
    fc.asyncProperty(hostile, async (value) => {
      fc.pre(value !== '');
      const given = { variables: { input: value }, macros: { x: value, y: 'no' } };
      expect(await render('<{{var:x}}|{{ input }}>', given)).toBe(`<${value}|${value}>`);
      expect(await render('{% if true %}{{var:x}}{{ input }}{% raw %}{{var:x}}{% endraw %}{% endif %}', given)).toBe(
        value + value + value,
      );
    }),
    { numRuns: 60 },
  );
});

describe('checking', () => {
  const noMacro =
    'a macro nor a template expression; the macros are var, now, date, chain:id, tools, toolservice, host:os, host:arch and edge_count';
  const defects: readonly (readonly [string, string, number, string])[] = [
    ['ab {% include "x" %}', 'forbidden_tag', 3, 'the tag include is not allowed: a template cannot bring in another'],
    ['{% render "x" %}', 'forbidden_tag', 0, 'the tag render is not allowed: a template cannot bring in another'],
    ['{% layout "x" %}', 'forbidden_tag', 0, 'the tag layout is not allowed: a template cannot bring in another'],
    [
      '{% block x %}{% endblock %}',
      'forbidden_tag',
      0,
      'the tag block is not allowed: a template cannot bring in another',
    ],
    ['a\n {{ input | nofilter }}', 'bad_template', 3, 'undefined filter: nofilter'],
    ['a {{nosuch:x}}', 'bad_template', 2, `{{nosuch:x}} is neither ${noMacro}`],
    ['{{now}} {{host: name }}', 'bad_template', 8, `{{host: name }} is neither ${noMacro}`],
    ['{{ a | sample }}', 'bad_template', 0, 'undefined filter: sample'],
    ['{{ a | constructor }}', 'bad_template', 0, 'undefined filter: constructor'],
    ['{% foo %}', 'bad_template', 0, 'tag "foo" not found'],
    ['{{var:x}}{{ a', 'bad_template', 9, 'output "{{ a" not closed'],
    ['{{ "{{var:x}}" }}', 'bad_template', 4, 'a macro stands inside a quoted text; take it out of the quotes'],
    [
      "{{ 'now' | date: '%Y' }}",
      'bad_template',
      3,
      'a date filter does not read the clock; use the macro {{now:layout}}',
    ],
  ];
  test.each(defects)('%s', async (text, code, at, message) => {
    expect((await checkTemplate(text, 'other')).problem).toEqual({ code, at, message });
  });

  test('names the variables that a template reads from outside, where it reads them first', async () => {
    const text =
      '{{ input }}{{var:x}}{% assign y = z %}{{ y }}{% for i in list %}{{ i }}{{ forloop.index }}{% endfor %}';
    expect((await checkTemplate(text, 'other')).names).toEqual([
      { name: 'input', at: 3 },
      { name: 'z', at: 34 },
      { name: 'list', at: 57 },
    ]);
    expect((await checkTemplate('{{ .a.b }}', 'other')).names).toEqual([{ name: 'a', at: 0 }]);
  });

  test('accepts a syntax error inside a raw block', async () => {
    expect((await checkTemplate('{% raw %}{{ | }}{% endraw %}', 'other')).problem).toBeNull();
  });
});
