import { openHookRooms } from './hook-rooms.ts';
import type { RoomsInput } from './rooms-input.ts';
import { runSources, sourceArguments, sourceChecks, sourceTools } from './tool-sources.ts';

/** Everything that people registered tools with, one line each. */
export function openSourceRooms(input: RoomsInput) {
  const hooks = openHookRooms(input);
  const rooms = [hooks.room];
  return {
    forRun: runSources(rooms),
    checks: sourceChecks(rooms),
    argumentNames: sourceArguments(rooms),
    tools: sourceTools(rooms),
    services: { ...hooks.services },
  };
}
