import type * as Library from 'liquidjs';
import { readHistory } from './read-history.ts';
import { LimitError, toText } from './template-values.ts';
import { lastAssistant, transcript } from './transcript.ts';
import { taskError } from './values.ts';

/** Limits of one rendering (04 §9.8); that of its output is with the values. */
export const limits = { templateBytes: 256 * 1024, iterations: 10_000, milliseconds: 1000 } as const;

/** Elements that a rendering may make: keeps ranges, joins and repeated appends small. */
const memoryUnits = 8 * 1024 * 1024;

export type LiquidLibrary = Omit<typeof Library, 'default'>;

/** The package is one CommonJS value: a bundle has it under `default`, and named members not at all. */
export const loadLibrary = async (): Promise<LiquidLibrary> => (await import('liquidjs')).default;

/** The library with our limits, tags and filters, and without what reaches outside. */
export function createEngine(library: LiquidLibrary): Library.Liquid {
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

/** Thrown while parsing. */
export class ForbiddenTagError extends Error {}

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

export const clockFilter = 'a date filter does not read the clock; use the macro {{now:layout}}';

/** The messages of a history value; null when it is none. Ids and times do not show in what is made of them. */
function messagesOf(value: unknown) {
  return readHistory(value, { messageId: () => '', callId: () => '', timestamp: '' })?.messages ?? null;
}

/** What was thrown inside the library, under its wrappers. */
export function originalOf(error: unknown): unknown {
  let cause = error;
  while (cause instanceof Error && 'originalError' in cause && cause.originalError !== undefined) {
    cause = cause.originalError;
  }
  return cause;
}
