import type { RegisteredTool } from '../schema/tool-sources.ts';
import type { ToolServerRow, ToolServers } from '../store/tool-servers.ts';
import { readDefinition } from '../tools/mcp/definition.ts';
import { withoutMembers } from '../tools/mcp/tool.ts';
import { readTexts } from './backend-fields.ts';
import { sourceOf } from './mcp-view.ts';
import type { Pins } from './pins.ts';

/** What tool servers listed last, without asking any of them. */
export function knownMcpTools(servers: Pick<ToolServers, 'all' | 'find'>, pins: Pins) {
  const listed = (row: ToolServerRow): RegisteredTool[] => {
    const hidden = new Set(Object.keys(readTexts(row.inject)));
    return pins.known(sourceOf(row)).tools.map(({ tool, definition, state }) => {
      const read = readDefinition(definition);
      const description = (read?.description ?? read?.title ?? '').slice(0, 4096);
      const schema = { ...withoutMembers(read?.inputSchema ?? {}, hidden) };
      return { tools: row.name, tool, source: 'mcp', description, schema, state };
    });
  };
  return {
    tools: (): readonly RegisteredTool[] => servers.all().flatMap(listed),

    /** The arguments that a tool declares beside the injected ones; null for one that is not known. */
    argumentNames(name: string, tool: string): readonly string[] | null {
      const row = servers.find(name);
      const found = row === undefined ? undefined : listed(row).find((one) => one.tool === tool);
      const properties = found?.schema['properties'];
      return typeof properties === 'object' && properties !== null ? Object.keys(properties) : null;
    },
  };
}
