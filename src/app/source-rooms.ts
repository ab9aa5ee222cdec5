import { openHookRooms } from './hook-rooms.ts';
import { openMcpRooms } from './mcp-rooms.ts';
import type { RoomsInput } from './rooms-input.ts';
import { runSources, sourceArguments, sourceChecks, sourceTools } from './tool-sources.ts';

/** Where tools come from beside the built-in ones: hooks and tool servers, of which nothing is loaded before it is used. */
export function openSourceRooms(input: RoomsInput) {
  const hooks = openHookRooms(input);
  const mcp = openMcpRooms(input);
  const rooms = [hooks.room, mcp.room];
  return {
    services: { ...hooks.services, ...mcp.services },
    /** For runs. */
    sources: runSources(rooms, input.secrets),
    /** For `doctor`. */
    checks: sourceChecks(rooms),
    /** For policies that are tried: what is known of the tools, without contacting anybody. */
    forTrials: async () => ({
      registeredArguments: await sourceArguments(rooms)(),
      registeredTools: sourceTools(rooms, input.secrets),
    }),
    /** Ends what was started for them. */
    close: mcp.close,
  };
}
