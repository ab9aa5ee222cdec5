import type { Secrets } from '../registry/secrets.ts';
import type { RunSources, SourceTools } from '../tools/source.ts';
import type { Tool } from '../tools/tool.ts';

/**
 * Hides known secrets in what services say of their tools before a model gets it (11 §5.2): a description may tell the
 * address that its server is connected to, with the password that was given to it. What looks like a secret is left, since
 * an example of a header is of use. Calls are checked against what the service said.
 */
export function withMaskedTools(secrets: Pick<Secrets, 'maskKnownDeep'>, sources: RunSources): RunSources {
  const hide = (tools: SourceTools): SourceTools => ({ ...tools, tools: tools.tools.map((tool) => masked(tool)) });
  const masked = (tool: Tool): Tool => {
    const spec = secrets.maskKnownDeep(tool.spec);
    return spec === tool.spec ? tool : { ...tool, spec };
  };
  return {
    ...sources,
    opened: sources.opened.map(hide),
    onChange: (listener) => sources.onChange((tools) => listener(hide(tools))),
  };
}
