import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toTmux } from '../../src/cli/tmux-buffer.ts';
import type { Action } from '../../ui/actions.ts';
import { copyText } from '../../ui/clipboard.ts';
import { createEffects, type EffectDeps } from '../../ui/effects.ts';
import { tempHome } from '../support/temp-home.ts';
import { readyState } from './reducing.ts';

test.each([
  ['a\tb\r\nc', 'copied 6 bytes'],
  ['a\u202eb', 'copied 5 bytes; it holds hidden characters: U+202E'],
  // A joiner of its own, and a sign that stands for an escape on the screen.
  ['a\u200db', 'copied 5 bytes; it holds characters that are shown escaped'],
  ['␛[31m', 'copied 7 bytes; it holds characters that are shown escaped'],
])('%j is copied as it came, and what of it is shown otherwise is said', (text, said) => {
  const copied = copyText(text, 'osc52', false, 0);
  expect(copied).toEqual({ bytes: `\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`, said });
});

describe('in tmux', () => {
  /** What is written to the terminal and what is said, where tmux takes the text or does not. */
  const copied = async (takes: boolean | null): Promise<readonly [string, string]> => {
    let written = '';
    const said = new Promise<string>((resolve) => {
      const effects = createEffects({
        link: {},
        state: () => readyState(),
        client: async () => ({}),
        now: () => 0,
        clipboard: () => 'osc52',
        toTmux: takes === null ? null : async (text: string) => text === 'x' && takes,
        screen: { signal: (bytes: string) => (written += bytes) },
        dispatch: (action: Action) => (action.type === 'say' ? resolve(action.text) : undefined),
        // Nothing else is asked of the rooms here.
      } as unknown as EffectDeps);
      effects.perform({ do: 'copy', text: 'x' });
    });
    const words = await said;
    return [words, written];
  };

  test('a copy goes through tmux itself, since as it comes it passes on nothing that a program writes', async () => {
    expect(await copied(true)).toEqual(['copied 1 bytes', '']);
  });

  test('what tmux does not take is written for the terminal, and says what that depends on', async () => {
    const wrapped = '\u001bPtmux;\u001b\u001b]52;c;eA==\u0007\u001b\\';
    expect(await copied(false)).toEqual(['copied 1 bytes, if tmux passes it on: allow-passthrough', wrapped]);
    expect(await copied(null)).toEqual(['copied 1 bytes', '\u001b]52;c;eA==\u0007']);
  });

  test('the text is what tmux reads, whole', async () => {
    const { dir, remove } = tempHome();
    const args = join(dir, 'args');
    writeFileSync(join(dir, 'tmux'), `#!/bin/sh\necho "$@" > ${args}\ncat >> ${args}\n`, { mode: 0o755 });
    const environment = { PATH: `${dir}:${process.env['PATH']}` };
    expect(await toTmux(environment, 'one\ntwo')).toBe(true);
    expect(readFileSync(args, 'utf8')).toBe('load-buffer -w -\none\ntwo');
    writeFileSync(join(dir, 'tmux'), '#!/bin/sh\nexit 1\n');
    expect(await toTmux(environment, 'x'.repeat(1_000_000))).toBe(false);
    expect(await toTmux({ PATH: join(dir, 'none') }, 'x')).toBe(false);
    remove();
  });
});
