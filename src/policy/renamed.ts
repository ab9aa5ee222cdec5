import { baseName } from '../shell/programs.ts';
import type { Analysis } from './analysis.ts';

/** Builtins by which a name stands for something else from there on. */
const renaming: ReadonlySet<string> = new Set(['alias', 'hash', 'enable']);

/**
 * Whether the line itself may have made something else of a program's name: a function, an alias. What a table says of the
 * program is not said of that.
 */
export function isRenamed(name: string, { texts, commands }: Analysis): boolean {
  const own = name.replace(/[^\w]/g, '\\$&');
  const defined = new RegExp(`(?:^|[\\s;&|(){}'"\`])(?:function\\s+${own}(?![\\w.-])|${own}\\s*\\(\\s*\\))`);
  return (
    texts.some((text) => text.includes(name) && defined.test(text)) ||
    commands.some(
      ({ words: [program, ...rest] }) =>
        renaming.has(baseName(program?.text ?? '')) &&
        rest.some(({ text, open }) => open || text === name || text.startsWith(`${name}=`)),
    )
  );
}
