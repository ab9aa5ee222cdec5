import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Action, PolicyCall } from '../../../src/schema/policy.ts';
import { readFixture } from '../../policy/virtual-host.ts';
import { createField, type Field } from './field.ts';

/** Attacks of `attack-cases.json` by command lines, carried out by a model whose calls go through the whole program. */

type Check = {
  readonly policy: unknown;
  readonly call: PolicyCall;
  readonly expect: { readonly action?: Action; readonly action_in?: readonly Action[] };
};
type Case = { readonly id: string; readonly category: string; readonly checks?: readonly Check[] };

// Formats fixed by the case files themselves; what does not fit fails the checks below.
const { cases } = readFixture('attack-cases.json') as { readonly cases: readonly Case[] };
const { host } = readFixture('shell-cases.json') as { readonly host: { readonly programs: readonly string[] } };

/** Programs that the attacks want to have started, beside those of the case file. */
const wanted =
  'touch tee chmod whoami id env printf true hash cp install ln xxd dd mkfs tar awk timeout nice stdbuf setsid ionice ' +
  'flock watch sudo doas su npx docker devbox direnv find sort rg grep man less curl git node bash sh ls npm sed cat rm';

const programs = [...new Set([...host.programs, ...wanted.split(' ')])];
const files = { 'ws/s.sh': ': > M\n', 'ws/.venv/bin/activate': ': > M\n', 'ws/f': 'x\n', 'ws/README.md': 'TODO\n' };

let field: Field;
beforeAll(async () => {
  field = await createField({ programs, files, system: false });
});
// A file that an attack leaves would be seen in every line behind it too.
afterEach(() => field.sweep());
afterAll(() => field.app.close());

const shellChecks = ({ checks = [] }: Case): readonly Check[] =>
  checks.filter(({ call }) => call.tools === 'local_shell');
const lineCases = cases.filter((one) => shellChecks(one).length > 0);

describe('attacks by command lines, through the whole program', () => {
  it.each(lineCases.map((one) => [one.id, one.category, one] as const))(
    '%s (%s) starts nothing, and leaves no mark',
    async (_id, _category, one) => {
      for (const { policy, call, expect: wants } of shellChecks(one)) {
        const [outcome] = await field.attempt({ tool: 'local_shell.local_shell', args: call.args, policy });
        if (outcome === undefined) throw new Error('no call');
        const allowed = outcome.action === 'allow';
        // What is no call that could be made is refused before anybody is asked: a builtin, a hidden character.
        if (outcome.action === null) expect(wants.action).not.toBe('allow');
        else expect(wants.action_in ?? [wants.action], outcome.detail).toContain(outcome.action);
        expect(outcome.state).toBe(allowed ? 'done' : 'skipped');
        expect(field.marks(), String(call.args['command'])).toEqual(allowed ? ['echo'] : []);
      }
    },
  );
});

describe('the same lines, unguarded', () => {
  /** A shell starts nothing of ours for these: they do not parse, or name what is not there, or are the one harmless line. */
  const inert =
    /^git log &&& |^grep TODO README.md ; +; |^cd \/some\/dir|^\.\.\/\.\.\/bin\/rm|^\/bin\/\.\/whoami|^l\u0455|^touch\u00A0|^echo a[\v\f\r]|^echo '/;

  it('leave a mark, each of them: the marks would show a hole', async () => {
    const silent: string[] = [];
    for (const line of new Set(lineCases.flatMap(shellChecks).map(({ call }) => String(call.args['command'])))) {
      if (field.unguarded(line).length === 0) silent.push(line);
    }
    expect(silent.filter((line) => !inert.test(line))).toEqual([]);
  });
});

describe('launchers of attack-cases.json', () => {
  const launcherCases = cases.filter(({ category }) => category === 'shell-wrapper');

  it.each(launcherCases.map((one) => [one.id, one] as const))(
    '%s: no allow for the launcher and no deny of what it starts lets any of its lines through',
    async (_id, one) => {
      const checks = shellChecks(one);
      const policies = [...new Map(checks.map(({ policy }) => [JSON.stringify(policy), policy])).values()];
      // What the deny does not name is not denied by it.
      const lines = [...new Set(checks.map(({ call }) => String(call.args['command'])))].filter((line) =>
        /\b(touch|rm)\b/.test(line),
      );
      for (const policy of policies) {
        const denied = /"value":"touch,rm"/.test(JSON.stringify(policy)) ? /\b(touch|rm)\b/ : /\brm\b/;
        const denies = JSON.stringify(policy).includes('command_blacklist');
        for (const command of lines) {
          if (denies && !denied.test(command)) continue;
          const { action, state } = await field.shell(command, { policy });
          // A builtin is no program: refused before anybody is asked.
          expect([null, denies ? 'deny' : 'approve'], `${command} under ${denied}`).toContain(action);
          expect(state).toBe('skipped');
        }
      }
      expect(field.marks()).toEqual([]);
    },
  );
});
