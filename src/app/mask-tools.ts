import type { Secrets } from '../registry/secrets.ts';
import type { RunSources, SourceTools } from '../tools/source.ts';
import type { ToolSpec } from '../schema/message.ts';
import type { Tool } from '../tools/tool.ts';

/**
 * Hides known secrets in what services say of their tools before a model gets it (11 §5.2): a description may tell the
 * address that its server is connected to, with the password that was given to it. What looks like a secret is left, since
 * an example of a header is of use. Calls are checked against what the service said.
 */
export function withMaskedTools(secrets: Pick<Secrets, 'maskKnown'>, sources: RunSources): RunSources {
  const hide = (tools: SourceTools): SourceTools => ({ ...tools, tools: tools.tools.map((tool) => masked(tool)) });
  const masked = (tool: Tool): Tool => {
    const { description, input_schema } = tool.spec;
    if (secrets.maskKnown(JSON.stringify([description, input_schema])).count === 0) return tool;
    // Strings alone are replaced: it stays a specification.
    return { ...tool, spec: hiddenIn(tool.spec, (text) => secrets.maskKnown(text).text) as ToolSpec };
  };
  return {
    ...sources,
    opened: sources.opened.map(hide),
    onChange: (listener) => sources.onChange((tools) => listener(hide(tools))),
  };
}

function hiddenIn(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => hiddenIn(one, mask));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, hiddenIn(member, mask)]));
}
