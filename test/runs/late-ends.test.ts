import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLateEnds } from '../../src/runs/late-ends.ts';
import { RuntimeError } from '../../src/schema/errors.ts';
import { type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

describe('a run whose end finds no room', () => {
  let app: ScriptedApp | undefined;
  afterEach(() => app?.close());

  it('is written when there is room again, and does not stay a running one', async () => {
    app = await scriptedApp({
      turns: [says('All done.')],
      over: ({ chain }) => {
        // The fail point of a disk that has room for so many pages.
        writeFileSync(join(dirname(chain), 'local.db.fail-full'), '1000');
        return {};
      },
    });
    // The end alone does not fit.
    app.change(`CREATE TRIGGER fills BEFORE UPDATE OF ended_at ON runs BEGIN
      INSERT INTO blobs (sha256, bytes, created_at) VALUES ('fill', zeroblob(8000000), 0); END`);
    const { run_id } = await app.start();
    await expect(app.client.awaitRun({ run_id })).rejects.toMatchObject({ code: 'storage' });
    const row = () => app?.rows('SELECT status, exit_code, ended_at IS NOT NULL AS ended FROM runs');
    expect(row()).toEqual([{ status: 'running', exit_code: null, ended: 0 }]);

    app.change('DROP TRIGGER fills');
    await expect.poll(row).toEqual([{ status: 'completed', exit_code: 0, ended: 1 }]);
    expect((await app.events(run_id)).at(-1)).toMatchObject({ kind: 'chain_completed', status: 'completed' });
    expect(app.rows('SELECT run_id FROM run_state')).toEqual([]);
  });
});

describe('what is tried again', () => {
  const full = new RuntimeError('storage', 'full');
  afterEach(() => {
    vi.useRealTimers();
  });
  const tried = (error: unknown) => {
    vi.useFakeTimers();
    const late = createLateEnds();
    const write = vi.fn<() => unknown>(() => {
      throw error;
    });
    late.keep('run', full, write);
    return { late, write };
  };

  it('goes on until it succeeds', () => {
    const { write } = tried(full);
    vi.advanceTimersByTime(10_000);
    expect(write).toHaveBeenCalledTimes(5);
    write.mockImplementation(() => undefined);
    vi.advanceTimersByTime(10_000);
    expect([write.mock.calls.length, vi.getTimerCount()]).toEqual([6, 0]);
  });

  it('ends with a failure that no time cures', () => {
    const { write } = tried(new RuntimeError('database_damaged', 'damaged'));
    vi.advanceTimersByTime(10_000);
    expect([write.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('is left alone when its run goes on, and when the program ends', () => {
    const { late, write } = tried(full);
    late.drop('run');
    late.keep('other', full, write);
    late.close();
    vi.advanceTimersByTime(10_000);
    expect([write.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0]);
  });
});
