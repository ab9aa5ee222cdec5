import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { judge, load, plainHost } from '../policy/virtual-host.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { createRecorders } from './recorders.ts';

let home: TempHome;
beforeEach(() => {
  home = tempHome();
});
afterEach(() => home.remove());

/** What starts other programs, as it is on this machine. */
const launchers = ['env', 'xargs', 'sh', 'bash', 'timeout', 'nice', 'nohup', 'find', 'awk', 'sed', 'cat', 'printf'];

/** Ways to have a name started, what stands around them, and what only looks like one. */
const pieces = fc.constantFrom(
  ...['rm', 'rm', 'rm', 'rm x', 'say', 'say x', 'r', 'm', 'r""m', "r'm'", '\\rm', '$r', '$r$m', 'r=rm', 'r=r', 'm=m'],
  ...[' ', ' ', ' ', ' ', ' ', ' ', '\n', ';', '; ', ' && ', ' || ', ' | ', '|', '&', '|&', '(', ')', '{ ', '; }'],
  ...['$(', '`', '"', "'", "$'", '$((', '))', '${', '}', '<(', '>(', '\\', '\\\n', '$x', '$1', '"$@"', '$\u007br:-rm}'],
  ...['if ', '; then ', '; fi', 'while ', ' do ', '; done', 'for r in rm; do ', 'case rm in ', 'r*) ', ';;', ' esac'],
  ...['f() ', 'f', 'alias f=rm', "alias f='rm '", 'eval ', 'exec ', 'command ', 'time ', '! ', 'trap rm 0', '. ./f'],
  ...[
    'set -- rm',
    'read r',
    'env ',
    'env -S "rm x"',
    'env x=1 ',
    'xargs ',
    'xargs -I{} ',
    'sh -c ',
    "sh -c 'rm'",
    'sh',
  ],
  ...[
    'timeout 5 ',
    'nice -n 5 ',
    'nohup ',
    'find . -maxdepth 0 -exec ',
    ' \\;',
    ' +',
    'awk ',
    'sed ',
    "'1e rm'",
    'cat',
  ],
  ...['cat <<E', '\nE\n', "<<'E'", '<<<rm', 'printf rm', 'say rm', '>f', '<f', '2>&1', '&>f', '<&-', '2>&-', '>|f'],
  ...['#', ' # ', '*', '?', '[', ' ]]', '[[ ', '-', '--', '{rm,x}', '{r,}m', '=', '!', '\t', '\r', '\u00a0', '2', 'x'],
);
const begun = fc.constantFrom(
  '',
  '',
  'r=rm; ',
  'alias f=rm\n',
  'f() { rm; }; ',
  'printf rm | ',
  'say rm |',
  'say rm >f; ',
);
const line = fc
  .tuple(begun, fc.array(pieces, { minLength: 1, maxLength: 9 }))
  .map(([before, parts]) => before + parts.join(''))
  // A path would lead to programs that record nothing.
  .filter((text) => !text.replaceAll('./f', '').includes('/'));

describe('a program that a policy denies', () => {
  it('is started by no line that the policy lets pass, whichever shell reads it', async () => {
    const { programs, started } = createRecorders(home, ['rm', 'say']);
    for (const name of launchers) symlinkSync(join('/usr/bin', name), join(programs, name));
    const shells = ([['/bin/sh'], ['/bin/bash', '--posix'], ['/bin/bash']] as const).filter(([path]) =>
      existsSync(path),
    );
    const when = [{ key: 'command', op: 'command_blacklist', value: 'rm' }];
    const policy = await load({ default_action: 'allow', rules: [{ action: 'deny', when }] });
    const facts = { ...plainHost, programs_dir: programs, programs: ['rm', 'say', ...launchers] };
    let passed = 0;
    fc.assert(
      fc.property(line, (command) => {
        const args = { command, shell: true };
        if (judge(policy, { tools: 'local_shell', tool: 'local_shell', args }, facts).action !== 'allow') return;
        passed += 1;
        for (const shell of shells) {
          const names = started(command, shell).map((words) => (JSON.parse(words) as readonly string[])[0]);
          expect(names, `${shell.join(' ')}: ${command}`).not.toContain('rm');
        }
      }),
      { numRuns: 800 },
    );
    expect(passed).toBeGreaterThan(50);
  }, 120_000);

  it.each(['say x |<&-rm', '2>&-rm', '>& -rm x', '<&-{rm,x}', 'say x && <&\\\n-rm'])(
    'is found behind the sign that closes a descriptor, where bash starts it: %j',
    async (command) => {
      const { programs, started } = createRecorders(home, ['rm', 'say']);
      expect(started(command, ['/bin/bash']).join()).toContain('["rm"');
      const when = [{ key: 'command', op: 'command_blacklist', value: 'rm' }];
      const policy = await load({ default_action: 'allow', rules: [{ action: 'deny', when }] });
      const call = { tools: 'local_shell', tool: 'local_shell', args: { command, shell: true } };
      const facts = { ...plainHost, programs_dir: programs, programs: ['rm', 'say'] };
      expect(judge(policy, call, facts).action).not.toBe('allow');
    },
  );
});
