import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attachMentions } from '../../../ui/composer/attach.ts';
import { fuzzyBest } from '../../../ui/composer/fuzzy.ts';
import { gitExcludes } from '../../../src/cli/git-excludes.ts';
import { createHistoryFile, historyPath } from '../../../ui/composer/history-file.ts';
import { isIgnored, readIgnoreFile } from '../../../ui/composer/ignore-files.ts';
import { literalAts, mentionAt, mentionsOf, writtenMention } from '../../../ui/composer/mention.ts';
import { createMentionFinder } from '../../../ui/composer/mention-finder.ts';
import { matchMentions, scanMentions } from '../../../ui/composer/mention-index.ts';
import { tempHome } from '../../support/temp-home.ts';

describe('mentions', () => {
  it('reads all forms', () => {
    expect(mentionsOf('see @a.ts, @"b c.md" and (@src/) @d.ts:10-20 @e.ts:7. mail me@x.org @@not')).toEqual([
      { path: 'a.ts', lines: null, directory: false },
      { path: 'b c.md', lines: null, directory: false },
      { path: 'src/', lines: null, directory: true },
      { path: 'd.ts', lines: { from: 10, to: 20 }, directory: false },
      { path: 'e.ts', lines: { from: 7, to: 7 }, directory: false },
    ]);
    expect(literalAts('a @@b')).toBe('a @b');
    for (const path of ['a b', 'copy (1)', 'so.', '@own', 'plain.ts'])
      expect(mentionsOf(`see ${writtenMention(path)}, and`)).toEqual([{ path, lines: null, directory: false }]);
  });

  it('finds the word at the caret', () => {
    expect(mentionAt('see @sr', 7)).toEqual({ from: 4, query: 'sr' });
    expect(mentionAt('see @"my no', 11)).toEqual({ from: 4, query: 'my no' });
    expect([mentionAt('me@x', 4), mentionAt('@a b', 4), mentionAt('x', 1)]).toEqual([null, null, null]);
  });

  it('puts the best first', () => {
    const paths = ['src/http/retry.ts', 'docs/retention.md', 'test/http/retry.test.ts', 'README.md'];
    expect(fuzzyBest('retry', paths, (path) => path, 2)).toEqual(['src/http/retry.ts', 'test/http/retry.test.ts']);
    expect(fuzzyBest('rme', paths, (path) => path, 9)[0]).toBe('README.md');
    expect(fuzzyBest('zz', paths, (path) => path, 9)).toEqual([]);
    expect(fuzzyBest('README', ['readme', 'README'], (path) => path, 9)).toEqual(['README']);
  });
});

describe('what a message mentions', () => {
  it('goes through the gate wherever it is, and a word that names nothing stays a word', async () => {
    const { home, workspace } = tempHome();
    writeFileSync(join(workspace, 'in.txt'), '');
    writeFileSync(join(home, 'out.txt'), '');
    const asked: unknown[] = [];
    const attached = await attachMentions(
      `@in.txt @${home}/out.txt @~/.ssh/id_rsa @/ @.. @${home} @nobody @/none @types/node`,
      {
        root: workspace,
        call: async ({ args }) => {
          asked.push(args['path']);
          return args['path'] === 'in.txt' ? { ok: true, text: 'read' } : { ok: false, why: 'denied' };
        },
        image: async () => null,
      },
    );
    expect(asked).toEqual(['in.txt', `${home}/out.txt`, '~/.ssh/id_rsa']);
    expect(attached).toEqual({
      ok: false,
      problems: [`@${home}/out.txt was not attached: denied`, '@~/.ssh/id_rsa was not attached: denied'],
    });
    rmSync(home, { recursive: true });
  });
});

describe('ignore files', () => {
  const ignored = (rules: string, path: string, directory = false) =>
    isIgnored([readIgnoreFile(rules, '')], path, directory);

  it.each([
    ['*.log', 'a/b.log', true],
    ['*.log\n!keep.log', 'keep.log', false],
    ['/build', 'build', true],
    ['/build', 'a/build', false],
    ['a/**/z', 'a/b/c/z', true],
    ['a/**', 'a/b/c', true],
    ['**/tmp', 'x/tmp', true],
    ['# note\n\\#x', '#x', true],
    ['[ab].txt', 'b.txt', true],
    ['[!ab].txt', 'b.txt', false],
    ['q?.c', 'qq.c', true],
    ['trailing ', 'trailing', true],
    ['a*a*a*a*a*a*b', 'a'.repeat(200), false],
  ])('of %j and %j: %s', (rules, path, expected) => {
    expect(ignored(rules, path)).toBe(expected);
  });

  it('knows rules for directories, and lets the inner file decide', () => {
    expect([ignored('out/', 'out', true), ignored('out/', 'out', false)]).toEqual([true, false]);
    const files = [readIgnoreFile('*.md', ''), readIgnoreFile('!note.md', 'docs/')];
    expect([isIgnored(files, 'docs/note.md', false), isIgnored(files, 'note.md', false)]).toEqual([false, true]);
  });
});

describe('the excludes of git', () => {
  it('are those of the user by its configuration, and of the clone', () => {
    const { workspace: home } = tempHome();
    const root = join(home, 'shop');
    mkdirSync(join(root, '.git/info'), { recursive: true });
    writeFileSync(join(root, '.git/info/exclude'), '*.tmp');
    writeFileSync(join(home, '.gitconfig'), '[user]\n excludesfile = no\n[core]\n\texcludesFile = "~/own ignore"\n');
    writeFileSync(join(home, 'own ignore'), '*.bak');
    expect(gitExcludes({}, home, root)).toBe('*.bak\n*.tmp');
    expect(gitExcludes({}, join(home, 'none'), join(home, 'none'))).toBe('\n');
    rmSync(home, { recursive: true });
  });
});

describe('the index', () => {
  it('names files and directories, hidden ones last, and nothing ignored, linked or of git', async () => {
    const { workspace } = tempHome();
    const put = (path: string, text = '') => {
      mkdirSync(dirname(join(workspace, path)), { recursive: true });
      writeFileSync(join(workspace, path), text);
    };
    for (const path of ['src/a.ts', 'src/gen/b.ts', 'notes.md', '.env.sample', '.git/config', 'node_modules/x.js'])
      put(path);
    put('.gitignore', 'node_modules\ngen/\n');
    symlinkSync(join(workspace, 'gone'), join(workspace, 'dangling'));
    symlinkSync(join(workspace, 'src/a.ts'), join(workspace, 'linked.ts'));
    symlinkSync(join(workspace, 'src'), join(workspace, 'tree'));
    put('quo"te.txt');
    put('two\nlines.txt');
    put('.config/git/ignore', '.config\n');
    put('.git/info/exclude', 'notes.md\n');
    const index = await scanMentions(
      workspace,
      gitExcludes({}, workspace, workspace),
      () => 0,
      new AbortController().signal,
    );
    expect(index).toEqual({
      paths: ['linked.ts', 'src/', 'src/a.ts'],
      last: ['.env.sample', '.gitignore'],
      cut: false,
    });
    expect(matchMentions(index, 'a.', 9)).toEqual(['src/a.ts']);
    const late = await scanMentions(workspace, '', stepping(), new AbortController().signal);
    expect(late.cut).toBe(true);
    rmSync(workspace, { recursive: true });
  });
});

describe('what is offered', () => {
  it('comes from the files that are known, at once, and again from a new look where it finds others', async () => {
    const { workspace } = tempHome();
    const put = (path: string, text = '') => writeFileSync(join(workspace, path), text);
    for (const path of ['note-1.md', 'note-secret.md', 'other.md']) put(path);
    put('note-0.bin', 'x'.repeat(1024 * 1024 + 1));
    let at = 0;
    let scans = 0;
    const find = createMentionFinder({
      root: async () => workspace,
      gitExcludes: () => `scan-${++scans}`,
      readable: async (path) => path !== 'note-secret.md' && !path.endsWith('.denied'),
      now: () => at,
      signal: new AbortController().signal,
    });
    const told = async (query: string, wanted = () => true): Promise<readonly (readonly string[])[]> => {
      const all: (readonly string[])[] = [];
      await find(query, wanted, (found) => all.push(found));
      return all;
    };
    // Very large files come behind the others, and what cannot be read does not come.
    expect(await told('note')).toEqual([['note-1.md', 'note-0.bin']]);
    put('note-2.md');
    at = 9_000;
    expect(await told('note')).toEqual([['note-1.md', 'note-0.bin']]);
    at = 11_000;
    expect(await told('note')).toEqual([
      ['note-1.md', 'note-0.bin'],
      ['note-1.md', 'note-2.md', 'note-0.bin'],
    ]);
    at = 30_000;
    expect(await told('note')).toEqual([['note-1.md', 'note-2.md', 'note-0.bin']]);
    expect(scans).toBe(3);
    expect(await told('note', () => false)).toEqual([]);
    // What is denied takes no place from what is not.
    for (let index = 0; index < 30; index += 1) put(`key-${index}.denied`);
    put('the-keyboard.md');
    at = 50_000;
    expect((await told('key')).at(-1)).toEqual(['the-keyboard.md']);
    rmSync(workspace, { recursive: true });
  });
});

/** A clock that runs out at once. */
function stepping(): () => number {
  let at = 0;
  return () => {
    at += 5000;
    return at;
  };
}

describe('the history file', () => {
  it('is private, keeps its newest entries, and passes over broken lines', async () => {
    const { home } = tempHome();
    const path = historyPath(join(home, '.reins'), '/w/shop');
    expect(path).toMatch(/\/history\/[0-9a-f]{16}\.jsonl$/);
    const file = createHistoryFile(
      async () => path,
      () => 2,
      () => 0,
    );
    expect(await file.read()).toEqual([]);
    for (const text of ['one', 'two\nlines', 'three']) await file.append(text, 's');
    writeFileSync(path, '{"text":\n', { flag: 'a' });
    expect(await file.read()).toEqual(['two\nlines', 'three']);
    await file.compact();
    expect(
      await createHistoryFile(
        async () => path,
        () => 9,
        () => 0,
      ).read(),
    ).toEqual(['three']);
  });
});
