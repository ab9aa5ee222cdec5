import { readArguments } from '../view/asked-arguments.ts';
import type { Context } from './context.ts';
import { editText } from './editor.ts';
import type { Keys } from './keys.ts';

export type EditedArguments =
  | { readonly kind: 'changed'; readonly args: Record<string, unknown>; readonly text: string }
  /** `text` is what was saved, to go on with; null when nothing was. */
  | { readonly kind: 'not_changed'; readonly message: string; readonly text: string | null };

/** Gives the terminal to the editor, and reads what was saved. @param text what it begins with */
export async function editArguments(context: Context, keys: Keys, text: string): Promise<EditedArguments> {
  const { process, terminal } = context;
  keys.lend();
  const edited = await terminal.lend(() => editText(process, 'arguments.json', text)).finally(() => keys.take());
  if (edited.kind === 'failed') return { kind: 'not_changed', message: edited.message, text: null };
  const read = readArguments(edited.text, text);
  return read.ok
    ? { kind: 'changed', args: read.args, text: edited.text }
    : { kind: 'not_changed', message: read.message, text: edited.text };
}
