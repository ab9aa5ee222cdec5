import { RuntimeError } from '../schema/errors.ts';
import type { Drift, SourceTool } from '../schema/tool-sources.ts';
import { escapeText } from '../view/escape.ts';
import { plural } from '../view/format.ts';
import { confirmed } from './confirm.ts';
import type { Context } from './context.ts';

/** A hook or a tool server, as far as its definitions go. */
type Source = {
  readonly name: string;
  readonly tools: readonly SourceTool[];
  readonly definition_sha256: string | null;
  readonly drift: readonly Drift[];
};

type Deps = {
  /** `hook` or `mcp`, for the advice. */
  readonly command: string;
  readonly source: Source;
  /** Accepts exactly what is shown. */
  accept(shown: string, tools: readonly string[]): Promise<Source>;
};

/**
 * `hook accept` and `mcp accept` (05 §2.6.4): shows the differences, hidden characters escaped, and accepts what was shown
 * after a yes. @throws RuntimeError usage without a terminal and without `--yes`, not_found, conflict
 */
export async function acceptDefinitions(context: Context, { command, source, accept }: Deps): Promise<number> {
  const { flags } = context.invocation;
  const wanted = flags.list('tool');
  for (const tool of wanted) {
    if (source.drift.some((one) => one.tool === tool)) continue;
    throw new RuntimeError('not_found', `"${source.name}" has no tool "${tool}" that waits to be accepted.`, {
      hints: [`reins ${command} show ${source.name}`],
    });
  }
  const drift = wanted.length === 0 ? source.drift : source.drift.filter(({ tool }) => wanted.includes(tool));
  if (drift.length === 0 || source.definition_sha256 === null) {
    if (context.globals.format === 'text') await context.print(`"${source.name}": nothing waits to be accepted.`);
    else await context.printJson({ accepted: [] });
    return 0;
  }
  for (const one of drift) context.terminal.err(`${differenceLines(source.name, one).join('\n')}\n`);
  if (flags.bool('yes') !== true) {
    if (!context.terminal.interactive()) {
      throw new RuntimeError('usage', 'nothing is accepted without a terminal: add --yes once you have looked', {
        hints: [`reins ${command} accept ${source.name} --yes`],
      });
    }
    const question = `Accept ${drift.length === 1 ? 'this definition' : `these ${drift.length} definitions`}? [y] yes, any other key no`;
    if (!(await confirmed(context, question))) {
      context.hint('Nothing was accepted.');
      return 1;
    }
  }
  const tools = drift.map(({ tool }) => tool);
  await accept(source.definition_sha256, tools);
  if (context.globals.format === 'text')
    await context.print(`Accepted ${plural(tools.length, 'tool')} of "${source.name}".`);
  else await context.printJson({ accepted: tools });
  return 0;
}

/** Escaped everywhere, on a terminal or not: what hides in a description is what this is about. */
export function differenceLines(source: string, { tool, change, diff }: Drift): readonly string[] {
  const head = `${source}.${tool} (${change === 'new' ? 'new' : 'changed'})`;
  return [head, ...diff.split('\n').slice(2)].map((line) => escapeText(line, { mode: 'line' }));
}
