import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOwnFile } from '../../src/cli/own-file.ts';

test('a file of the operator is read only where it is one, and a small one', () => {
  const directory = mkdtempSync(join(tmpdir(), 'reins-own-'));
  try {
    const path = (name: string) => join(directory, name);
    writeFileSync(path('keys'), '{}');
    writeFileSync(path('large'), Buffer.alloc(1024 * 1024 + 1));
    mkdirSync(path('directory'));
    expect([readOwnFile(path('keys')), readOwnFile(path('none'))]).toEqual(['{}', null]);
    expect(() => readOwnFile(path('directory'))).toThrow('is not a regular file');
    expect(() => readOwnFile('/dev/zero')).toThrow('is not a regular file');
    expect(() => readOwnFile(path('large'))).toThrow('has more than 1 MiB');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
