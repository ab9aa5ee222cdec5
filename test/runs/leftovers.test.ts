import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { scriptedApp } from '../support/scripted-app.ts';

it('removes spooled results and temporaries that are too old when the program ends', async () => {
  const app = await scriptedApp({ turns: [{ match: {}, reply: { text: 'fine' } }] });
  const home = join(app.place.home, '.reins');
  const old = (name: string): string => {
    const path = join(home, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'x');
    for (const one of [path, dirname(path)]) if (one !== home) utimesSync(one, 1, 1);
    return path;
  };
  const spooled = old('tool_output/run_old/call_1');
  const temporary = old('trust.json.tmp-0123456789ab');
  const mirror = old('plans/goal.md.tmp-0123456789ab');
  const typed = old('history/0123456789abcdef.jsonl.tmp-0123456789ab');
  const kept = join(home, 'trust.json.tmp-ba9876543210');
  writeFileSync(kept, 'of a writer that is at work');
  try {
    expect((await app.run()).text).toBe('fine');
    expect([spooled, temporary, mirror, typed].map(existsSync)).toEqual([true, true, true, true]);
    await app.stop();
    expect([spooled, temporary, mirror, typed, kept].map(existsSync)).toEqual([false, false, false, false, true]);
  } finally {
    await app.close();
  }
});

it('removes such temporaries soon after the start, too, since the program may never end in order', async () => {
  const app = await scriptedApp({ turns: [{ match: {}, reply: { text: 'fine' } }] });
  const home = join(app.place.home, '.reins');
  const [left, kept] = ['keys.json.tmp-0123456789ab', 'keys.json.tmp-ba9876543210'].map((name) => join(home, name));
  try {
    for (const path of [left, kept]) writeFileSync(path ?? '', 'x');
    utimesSync(left ?? '', 1, 1);
    await app.run();
    await vi.waitFor(() => expect([left, kept].map((path) => existsSync(path ?? ''))).toEqual([false, true]), 10_000);
  } finally {
    await app.close();
  }
});
