import type { SpawnerCommand, SpawnerReport, SpawnRequest } from '../src/schema/protocol.ts';
import { killChildren, spawnTool } from './spawn-tool.ts';

/** The process that starts children (`runs/spawner.ts`): jobs come over its channel, and it ends with the channel. */

const running = new Map<number, AbortController>();

const report = (message: SpawnerReport): void => {
  if (process.connected) process.send?.(message);
};

async function run(id: number, request: SpawnRequest): Promise<void> {
  const cancel = new AbortController();
  running.set(id, cancel);
  const result = await spawnTool(request, {
    report: (message) => report({ ...message, id }),
    signal: cancel.signal,
  });
  running.delete(id);
  report({ kind: 'result', id, result });
}

process.on('message', (command: SpawnerCommand) => {
  if (command.kind === 'spawn') void run(command.id, command.request);
  else running.get(command.id)?.abort();
});
// The program is gone, so nobody waits for the children any more (05 §3.6). What they start meanwhile is left to the guard.
process.on('disconnect', () => {
  killChildren();
  process.exit();
});

report({ kind: 'ready' });
