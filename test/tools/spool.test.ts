import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSpool } from '../../src/tools/spool.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let temp: TempHome;
let directory: string;
let now = Date.parse('2026-01-10T00:00:00Z');
beforeEach(() => {
  temp = tempHome();
  directory = join(temp.home, 'tool_output');
});
afterEach(() => temp.remove());

const spoolOf = () =>
  createSpool({ directory, runsOf: (scope) => (scope === 's1' ? ['run_a', 'run_b'] : []), now: () => now });
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('the spool', () => {
  it('writes 0600 files in 0700 directories and names them', () => {
    const kept = spoolOf().put('run_a', 'call_1', 'hello');
    expect(kept).toEqual({ name: '@output/call_1', truncated: false });
    expect(readFileSync(join(directory, 'run_a', 'call_1'), 'utf8')).toBe('hello');
    expect([modeOf(directory), modeOf(join(directory, 'run_a')), modeOf(join(directory, 'run_a', 'call_1'))]).toEqual([
      '700',
      '700',
      '600',
    ]);
  });

  it('gives a second result of one call id a name of its own', () => {
    const spool = spoolOf();
    spool.put('run_a', 'call_1', 'one');
    expect(spool.put('run_a', 'call_1', 'two').name).toBe('@output/call_1-2');
  });

  it('turns a call id that is a path into a name', () => {
    const name = spoolOf().put('run_a', '../../evil', 'x').name ?? '';
    expect(name).toMatch(/^@output\/call_[0-9a-f]{26}$/);
    expect(existsSync(join(directory, 'run_a', name.slice('@output/'.length)))).toBe(true);
  });

  it('keeps 8 MiB, cut between characters, and says so', () => {
    const kept = spoolOf().put('run_a', 'call_1', `a${'é'.repeat(4 * 1024 * 1024)}`);
    expect(kept).toMatchObject({ truncated: true });
    expect(statSync(join(directory, 'run_a', 'call_1')).size).toBe(8 * 1024 * 1024 - 1);
  });

  it('does not write through a link', () => {
    mkdirSync(directory, { recursive: true });
    symlinkSync(temp.workspace, join(directory, 'run_a'));
    expect(spoolOf().put('run_a', 'call_1', 'x')).toEqual({
      name: null,
      fault: `in ${directory}: not a directory (see: ls -ld ${temp.home} ${directory})`,
    });
    expect(existsSync(join(temp.workspace, 'call_1'))).toBe(false);
  });

  it('resolves names of the own run and of runs of the session only', () => {
    const spool = spoolOf();
    spool.put('run_a', 'call_1', 'x');
    const path = join(directory, 'run_a', 'call_1');
    expect(spool.resolve('run_a', 'run_a', '@output/call_1')).toBe(path);
    expect(spool.resolve('s1', 'run_b', '@output/call_1')).toBe(path);
    expect(spool.resolve('s2', 'run_c', '@output/call_1')).toBeNull();
    expect(spool.resolve('s1', 'run_a', '@output/../run_a/call_1')).toBeNull();
    expect(spool.resolve('s1', 'run_a', '@output/call_2')).toBeNull();
  });

  it('sweeps runs older than 7 days, at most once an hour', () => {
    const spool = spoolOf();
    for (const [run, days] of [
      ['run_old', 8],
      ['run_new', 6],
    ] as const) {
      spool.put(run, 'call_1', 'x');
      const at = now / 1000 - days * 86_400;
      utimesSync(join(directory, run, 'call_1'), at, at);
      utimesSync(join(directory, run), at, at);
    }
    spool.sweep();
    expect([existsSync(join(directory, 'run_old')), existsSync(join(directory, 'run_new'))]).toEqual([false, true]);
    now += 2 * 86_400_000;
    mkdirSync(join(directory, 'run_x'));
    utimesSync(join(directory, 'run_x'), 1, 1);
    spool.sweep();
    expect(existsSync(join(directory, 'run_x'))).toBe(false);
    writeFileSync(join(directory, 'unrelated'), '');
    mkdirSync(join(directory, 'run_y'));
    utimesSync(join(directory, 'run_y'), 1, 1);
    spool.sweep();
    expect(existsSync(join(directory, 'run_y'))).toBe(true);
  });
});
