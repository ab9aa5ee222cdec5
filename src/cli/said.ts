import type { Context } from './context.ts';

/** What a command has done: a sentence for people, the value in a JSON format. */
export const said = (context: Context, sentence: string, value: unknown): Promise<void> =>
  context.globals.format === 'text' ? context.print(sentence) : context.printJson(value);
