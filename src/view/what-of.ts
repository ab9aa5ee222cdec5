import type { Ask } from '../schema/ask.ts';

const mostShown = 200;

/**
 * What a row says of a call, as it was given, for who draws it escapes it: so a list says of a hidden character what the
 * card says. The beginning of a shell line where the arguments are at hand, else what the stored summary stands for.
 */
export function whatOf({
  args,
  tools,
  summary,
}: Pick<Ask, 'summary'> & { readonly args?: unknown; readonly tools?: string }): string {
  const command: unknown =
    tools === 'local_shell' && typeof args === 'object' && args !== null && !('args' in args)
      ? Reflect.get(args, 'command')
      : null;
  return typeof command === 'string' ? command.slice(0, mostShown) : given(summary);
}

/** What a summary writes as `\u202e` (03 §1.1). One that the end has cut through is left out. */
const stored =
  /\\u(005c|00[01][0-9a-f]|00[89][0-9a-f]|007f|200[b-f]|202[a-e]|206[0-9]|feff)|\\(?:u[0-9a-f]{0,3})?(?=…$)/g;

const given = (summary: string): string =>
  summary.replace(stored, (_, code?: string) =>
    code === undefined ? '' : String.fromCharCode(Number.parseInt(code, 16)),
  );
