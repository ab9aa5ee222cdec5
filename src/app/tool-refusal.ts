import type { PrepareDeps } from '../runs/ports.ts';
import type { PolicyCall } from '../schema/policy.ts';
import { parseArguments } from '../tools/arguments.ts';
import { createCatalog } from '../tools/catalog.ts';

/** What the tool layer says about a call, before any policy is asked. */
export const refusalWith =
  (prepare: PrepareDeps, registered: () => readonly string[]) =>
  ({ tools, tool, args }: PolicyCall): string | null => {
    const catalog = createCatalog(prepare.tools({ shell: true, plans: true }));
    const found = catalog.find(tools, tool);
    if (found === null) {
      const served = catalog.list((spec) => spec.tools === tools).map((spec) => spec.tool);
      if (served.length > 0) return `${tools} has no tool ${tool}; it has ${served.join(', ')}`;
      return registered().includes(tools) ? null : `there is no toolset ${tools}`;
    }
    const parsed = parseArguments(found, JSON.stringify(args), false);
    return parsed.ok ? null : parsed.message;
  };
