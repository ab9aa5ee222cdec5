import { EventEmitter } from 'node:events';
import type { Interface } from 'node:readline';
import { expect, test, vi } from 'vitest';
import { stopWithKey } from '../../../ui/plain/stopping.ts';

test('a plain mode that is ended while it is stopped leaves the terminal alone', () => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  const before = process.listeners('exit');
  const raw: boolean[] = [];
  const lines = new EventEmitter();
  let ending = false;
  const stops = stopWithKey({
    // Of both, only what stopping needs.
    input: { setRawMode: (on: boolean) => raw.push(on) } as unknown as NodeJS.ReadStream,
    lines: lines as unknown as Interface,
    pastes: { mark: () => undefined },
    shown: () => undefined,
    ending: () => ending,
  });
  lines.emit('SIGTSTP');
  ending = true;
  process.emit('SIGTERM', 'SIGTERM');
  stops();
  const last = process.listeners('exit').filter((each) => !before.includes(each));
  for (const each of last) process.off('exit', each);
  kill.mockRestore();
  expect([raw, last.length]).toEqual([[false], 1]);
});
