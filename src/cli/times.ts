import { formatAge } from '../view/format.ts';
import type { Context } from './context.ts';

/** A time in a listing: relative on a terminal, ISO 8601 elsewhere (06 §2.4.3). */
export const when = (context: Pick<Context, 'terminal' | 'process'>, at: string): string =>
  context.terminal.stdoutIsTerminal ? formatAge(context.process.now() - Date.parse(at)) : at;
