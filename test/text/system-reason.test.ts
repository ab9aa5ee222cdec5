import { describe, expect, test } from 'vitest';
import { lookAt, systemReason } from '../../src/text/system-reason.ts';

const said = (code: string, message: string): Error => Object.assign(new Error(message), { code });

describe('what the system said', () => {
  test.each([
    ['ENOSPC', 'ENOSPC: no space left on device, write', 'no space left on device', "df -h '/a b'"],
    ['EDQUOT', "EDQUOT: disk quota exceeded, open '/a b/c'", 'disk quota exceeded', "df -h '/a b'"],
    ['EMFILE', "EMFILE: too many open files, open '/a b/c'", 'too many open files', 'ulimit -n'],
    ['EACCES', "EACCES: permission denied, open '/a b/c'", 'permission denied', "ls -ld '/a b'"],
  ])('%s is told without the call, with the command that shows why', (code, message, reason, command) => {
    const error = said(code, message);
    expect([systemReason(error), lookAt(error, '/a b')]).toEqual([reason, command]);
  });
});
