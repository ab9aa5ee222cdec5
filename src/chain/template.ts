import type * as Library from 'liquidjs';
import { RuntimeError } from '../schema/errors.ts';
import { messageOf } from '../text/thrown.ts';
import { utf8Length } from '../text/utf8.ts';
import type { Within } from '../text/within.ts';
import { expandMacro, type MacroScope } from './macros.ts';
import { readHistory } from './read-history.ts';
import { macroName, type Part, prepareTemplate } from './template-syntax.ts';
import {
  boundedWriter,
  clean,
  cleanedNames,
  LimitError,
  member,
  type Names,
  templateNames,
  toText,
} from './template-values.ts';
import { lastAssistant, transcript } from './transcript.ts';
import { taskError } from './values.ts';

/** Limits of one rendering (04 §9.8); that of its output is with the values. */
const limits = { templateBytes: 256 * 1024, iterations: 10_000, milliseconds: 1000 };

/** Stops nothing: the library looks at its clock between the parts of a template, but not inside of one. */
const unstopped: Within = (_milliseconds, work) => ({ value: work() });

export type TemplateInput = {
  /** Name of the field, for messages. */
  readonly field: string;
  readonly scope: MacroScope;
  /** All variables of 04 §6.4 as plain values (a history is its `{messages, …}` object); `vars` is added here. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Present in `output_template` only: the tool's value. */
  readonly output?: { readonly value: unknown };
  readonly within?: Within;
};

/**
 * Expands macros, then renders (04 §9). The template library is loaded only for a template that is more than text,
 * macros and plain variables.
 * @throws RuntimeError template_limit; task_error for a variable macro that is not set and for a filter that fails
 */
export async function renderTemplate(text: string, input: TemplateInput): Promise<string> {
  const { field, scope } = input;
  if (utf8Length(text) > limits.templateBytes)
    throw limit(input, `the template is above ${limits.templateBytes} bytes`);
  const prepared = prepareTemplate(text, input.output === undefined ? 'vars' : 'output');
  if (prepared.misplaced !== null) throw taskError('bad_template', `${place(input)}: ${misplacedMacro}`);
  const names = templateNames(input.variables, input.output);
  prepared.macros.forEach((macro, index) => {
    names[macroName(index)] = expandMacro(macro, scope, field);
  });
  try {
    if (prepared.parts !== null) return renderPlain(prepared.parts, names);
    return await renderRich(prepared.text, names, input.within ?? unstopped);
  } catch (error) {
    throw renderFailure(error, input);
  }
}

function renderPlain(parts: readonly Part[], names: Names): string {
  const writer = boundedWriter();
  for (const part of parts) {
    if (part.kind === 'text') writer.write(part.text);
    else {
      const path = part.kind === 'macro' ? [macroName(part.index)] : part.path;
      writer.write(clean(path.reduce<unknown>(member, names)));
    }
  }
  return writer.buffer;
}

async function renderRich(text: string, names: Names, within: Within): Promise<string> {
  const library = await loadLibrary();
  const rendered = within(limits.milliseconds, () => renderWith(library, text, names));
  if (rendered === null) throw new LimitError(tooSlow);
  return rendered.value;
}

function renderWith(library: LiquidLibrary, text: string, names: Names): string {
  const engine = createEngine(library);
  const context = new library.Context(cleanedNames(names), engine.options, {
    sync: true,
    renderLimit: limits.milliseconds,
  });
  const writer = boundedWriter();
  library.toValueSync(engine.renderer.renderTemplates(engine.parse(text), context, writer));
  return writer.buffer;
}

const place = ({ scope, field }: TemplateInput): string => `task ${scope.task_id}, ${field}`;

const limit = (input: TemplateInput, message: string): RuntimeError =>
  new RuntimeError('template_limit', `${place(input)}: ${message}`);

const tooSlow = `rendering took over ${limits.milliseconds} ms`;

const misplacedMacro = 'a macro stands inside a quoted text; take it out of the quotes';

function renderFailure(error: unknown, input: TemplateInput): RuntimeError {
  const cause = originalOf(error);
  if (cause instanceof RuntimeError) return cause;
  if (cause instanceof LimitError) return limit(input, cause.message);
  const message = messageOf(cause);
  if (message === 'template render limit exceeded') return limit(input, tooSlow);
  // The library's own limit, the engine's string length and its stack.
  if (message === 'memory alloc limit exceeded' || cause instanceof RangeError) {
    return limit(input, 'rendering needs too much memory');
  }
  return taskError('template_error', `${place(input)}: ${message}`);
}

/** What was thrown inside the library, under its wrappers. */
function originalOf(error: unknown): unknown {
  let cause = error;
  while (cause instanceof Error && 'originalError' in cause && cause.originalError !== undefined) {
    cause = cause.originalError;
  }
  return cause;
}

/** Elements that a rendering may make: keeps ranges, joins and repeated appends small. */
const memoryUnits = 8 * 1024 * 1024;

type LiquidLibrary = Omit<typeof Library, 'default'>;

/** The package is one CommonJS value: a bundle has it under `default`, and named members not at all. */
const loadLibrary = async (): Promise<LiquidLibrary> => (await import('liquidjs')).default;

function createEngine(library: LiquidLibrary): Library.Liquid {
  const engine = new library.Liquid({
    strictFilters: true,
    ownPropertyOnly: true,
    dynamicPartials: false,
    relativeReference: false,
    templates: {},
    parseLimit: 4 * limits.templateBytes,
    memoryLimit: memoryUnits,
    outputEscape: (value) => toText(library.toValue(value)),
  });
  registerTags(engine, library);
  registerFilters(engine, library);
  return engine;
}

class ForbiddenTagError extends Error {}

/** Loops count their rounds; tags that bring in other templates are refused (04 §9.2). */
function registerTags(engine: Library.Liquid, library: LiquidLibrary): void {
  const count = (context: Library.Context): void => {
    const rounds = context.getRegister('rounds', { count: 0 });
    rounds.count += 1;
    if (rounds.count > limits.iterations) throw new LimitError(`its loops ran over ${limits.iterations} times`);
  };
  // A template without output that stands first in the body of each loop.
  const counter = (token: Library.Token): Library.Template =>
    // The renderer calls `render` and nothing else of a template; the analysis asks for optional members only.
    ({
      token,
      render: (context: Library.Context) => {
        count(context);
        return '';
      },
    }) as unknown as Library.Template;
  engine.registerTag(
    'for',
    class extends library.ForTag {
      constructor(...given: ConstructorParameters<typeof library.ForTag>) {
        super(...given);
        this.templates.unshift(counter(this.token));
      }
    },
  );
  engine.registerTag(
    'tablerow',
    class extends library.TablerowTag {
      constructor(...given: ConstructorParameters<typeof library.TablerowTag>) {
        super(...given);
        this.templates.unshift(counter(this.token));
      }
    },
  );
  for (const name of ['include', 'render', 'layout', 'block']) {
    engine.registerTag(
      name,
      class extends library.Tag {
        constructor(...given: ConstructorParameters<typeof library.Tag>) {
          super(...given);
          throw new ForbiddenTagError(`the tag ${name} is not allowed: a template cannot bring in another`);
        }
        *render(): Generator<unknown, void, unknown> {}
      },
    );
  }
}

/** Filters of the library that make text of what they are given, or of each element of it. */
const textFilters = [
  ...['append', 'prepend', 'replace', 'replace_first', 'replace_last', 'remove', 'remove_first', 'remove_last'],
  ...['upcase', 'downcase', 'capitalize', 'strip', 'lstrip', 'rstrip', 'squish', 'split', 'number_of_words', 'slugify'],
  ...['strip_newlines', 'normalize_whitespace', 'truncate', 'truncatewords', 'newline_to_br', 'strip_html'],
  ...['escape', 'escape_once', 'unescape', 'xml_escape', 'url_encode', 'cgi_escape', 'uri_escape', 'base64_encode'],
];
const joiningFilters = ['join', 'array_to_sentence_string'];

/** A filter of text takes an object, array or history as it would be rendered (04 §9.7), not as `[object Object]`. */
const written = (value: unknown): unknown => (typeof value === 'object' && value !== null ? toText(value) : value);

/** Our filters, and the library's where they must behave otherwise (04 §9.3). */
function registerFilters(engine: Library.Liquid, library: LiquidLibrary): void {
  engine.unregisterFilter('sample');
  for (const name of ['date', 'date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string']) {
    const own: unknown = engine.filters[name];
    if (typeof own !== 'function') continue;
    engine.registerFilter(name, function (this: unknown, value: unknown, ...rest: unknown[]) {
      if (value === 'now' || value === 'today') throw taskError('bad_template', clockFilter);
      return own.call(this, value, ...rest);
    });
  }
  for (const [names, prepare] of [
    [textFilters, written],
    [joiningFilters, (value: unknown) => (Array.isArray(value) ? value.map(written) : value)],
  ] as const) {
    for (const name of names) {
      const own: unknown = engine.filters[name];
      if (typeof own !== 'function') continue;
      engine.registerFilter(name, function (this: unknown, value: unknown, ...rest: unknown[]) {
        return own.call(this, prepare(library.toValue(value)), ...rest.map((each) => written(library.toValue(each))));
      });
    }
  }
  engine.registerFilter('raw', { raw: true, handler: (value: unknown) => toText(library.toValue(value)) });
  engine.registerFilter('json', (value: unknown, indent?: unknown) =>
    // Undefined has no JSON form; a missing variable is null.
    JSON.stringify(library.toValue(value) ?? null, null, typeof indent === 'number' ? indent : 0),
  );
  engine.registerFilter('trunc', (value: unknown, count: unknown) => {
    const text = toText(library.toValue(value));
    if (typeof count !== 'number' || count < 0) throw taskError('bad_template', 'trunc needs a number: trunc: 200');
    // At most two code units a character, so the cut text is long enough for the count.
    const head = [...text.slice(0, 2 * count + 2)];
    return head.length > count ? `${head.slice(0, count).join('')}…` : text;
  });
  engine.registerFilter('transcript', (value: unknown, maxBytes: unknown) => {
    const messages = messagesOf(value);
    return messages === null ? value : transcript(messages, typeof maxBytes === 'number' ? maxBytes : 65_536);
  });
  engine.registerFilter('last_assistant', (value: unknown) => lastAssistant(messagesOf(value) ?? []));
}

const clockFilter = 'a date filter does not read the clock; use the macro {{now:layout}}';

/** The messages of a history value; null when it is none. Ids and times do not show in what is made of them. */
function messagesOf(value: unknown) {
  return readHistory(value, { messageId: () => '', callId: () => '', timestamp: '' })?.messages ?? null;
}

/** A defect of a template, at an index of its text. */
export type TemplateProblem = {
  readonly code: 'bad_template' | 'forbidden_tag';
  readonly at: number;
  readonly message: string;
};

export type TemplateReport = {
  readonly problem: TemplateProblem | null;
  /** Variables that it reads from outside, with the place of the first reading. */
  readonly names: readonly { readonly name: string; readonly at: number }[];
};

const analysedLength = 32 * 1024;

/** What a template reads that is too large to be analysed. */
const everything: TemplateReport['names'] = [{ name: 'vars', at: 0 }];

/** Checks the syntax of a template when a chain is loaded (04 §9.4). Never throws. */
export async function checkTemplate(text: string, kind: 'output_template' | 'other'): Promise<TemplateReport> {
  const prepared = prepareTemplate(text, kind === 'other' ? 'vars' : 'output');
  const problem = (at: number, message: string): TemplateReport => ({
    problem: { code: 'bad_template', at, message },
    names: [],
  });
  if (prepared.misplaced !== null) return problem(prepared.misplaced, misplacedMacro);
  if (prepared.parts !== null) {
    return { problem: null, names: plainNames(prepared.parts) };
  }
  const clock = /(["'])(?:now|today)\1\s*\|\s*date/.exec(prepared.text);
  if (clock !== null) return problem(prepared.sourceIndex(clock.index), clockFilter);
  const library = await loadLibrary();
  try {
    const templates = createEngine(library).parse(prepared.text);
    // The library counts lines from the beginning for each name, which takes seconds for a large template.
    const names = prepared.text.length > analysedLength ? everything : namesOf(library, templates, prepared);
    return { problem: null, names };
  } catch (error) {
    const cause = originalOf(error);
    const message = messageOf(cause).replace(/, line:\d+, col:\d+$/, '');
    const at = prepared.sourceIndex(tokenOf(error)?.begin ?? 0);
    return {
      problem: { code: cause instanceof ForbiddenTagError ? 'forbidden_tag' : 'bad_template', at, message },
      names: [],
    };
  }
}

function plainNames(parts: readonly Part[]): { name: string; at: number }[] {
  const first = new Map<string, number>();
  for (const part of parts) {
    const name = part.kind === 'path' ? part.path[0] : undefined;
    if (part.kind === 'path' && name !== undefined && !first.has(name)) first.set(name, part.at);
  }
  return [...first].map(([name, at]) => ({ name, at }));
}

/** The token at which the library failed, if it says so. */
function tokenOf(error: unknown): Library.Token | null {
  if (!(error instanceof Error) || !('token' in error)) return null;
  const { token } = error;
  // The library's errors carry the token under this name; anything else has no `begin`.
  return typeof token === 'object' && token !== null && 'begin' in token ? (token as Library.Token) : null;
}

function namesOf(
  library: LiquidLibrary,
  templates: Library.Template[],
  { text, sourceIndex }: ReturnType<typeof prepareTemplate>,
): { name: string; at: number }[] {
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1);
  const found: { name: string; at: number }[] = [];
  for (const variables of Object.values(library.analyzeSync(templates, { partials: false }).globals)) {
    const first = variables[0];
    const name = first?.segments[0];
    if (first === undefined || typeof name !== 'string' || /^__macro_\d+__$/.test(name)) continue;
    const at = (lineStarts[first.location.row - 1] ?? 0) + first.location.col - 1;
    found.push({ name, at: sourceIndex(at) });
  }
  return found;
}
