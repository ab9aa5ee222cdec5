import { RuntimeError } from '../schema/errors.ts';
import { messageOf } from '../text/thrown.ts';
import { utf8Length } from '../text/utf8.ts';
import type { Within } from '../text/within.ts';
import { expandMacro, type MacroScope } from './macros.ts';
import { createEngine, limits, type LiquidLibrary, loadLibrary, originalOf } from './template-engine.ts';
import { macroName, misplacedMacro, type Part, prepareTemplate } from './template-syntax.ts';
import {
  boundedWriter,
  clean,
  cleanedNames,
  LimitError,
  member,
  type Names,
  templateNames,
} from './template-values.ts';
import { taskError } from './values.ts';

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
