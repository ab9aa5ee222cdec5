import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCommandTables } from '../../src/workspace/command-tables.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let home: TempHome;
beforeEach(() => {
  home = tempHome();
});
afterEach(() => home.remove());

const file = (): string => join(home.home, 'command-tables.json');
const read = () => readCommandTables(home.home, process.getuid?.() ?? null);

describe('the option tables of the operator', () => {
  it('are none without a file', async () => {
    expect(await read()).toEqual({ tables: undefined, warnings: [] });
  });

  it('are read from the user directory', async () => {
    writeFileSync(file(), '{"format":1,"programs":{"x":{"flags":["-a"]}}}');
    expect(await read()).toMatchObject({ tables: { programs: { x: { flags: ['-a'] } } }, warnings: [] });
  });

  it('are ignored with a warning when the file cannot be used', async () => {
    writeFileSync(file(), '{"format":1,"programs":{"x":{"flag":["-a"]}}}');
    expect(await read()).toEqual({
      tables: undefined,
      warnings: [`${file()} is ignored, the shipped option tables hold: $.programs.x.flag: is not known`],
    });
    writeFileSync(file(), '{"format":1,"programs":{}}');
    chmodSync(file(), 0o666);
    expect(await read()).toMatchObject({ tables: undefined, warnings: [expect.stringContaining('is ignored')] });
  });
});
