import { openHookRooms } from './hook-rooms.ts';
import { openMcpRooms } from './mcp-rooms.ts';
import type { RoomsInput } from './rooms-input.ts';
import { runSources, sourceArguments, sourceChecks } from './tool-sources.ts';

/** Everything that people registered tools with, one line each. */
export function openSourceRooms(input: RoomsInput) {
  const hooks = openHookRooms(input);
  const mcp = openMcpRooms(input);
  const rooms = [hooks.room, mcp.room];
  return {
    forRun: runSources(rooms),
    checks: sourceChecks(rooms),
    argumentNames: sourceArguments(rooms),
    services: { ...hooks.services, ...mcp.services },
    /** Ends what was started for them. */
    close: mcp.close,
  };
}
