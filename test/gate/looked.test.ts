import { linkSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPolicyHosts } from '../../src/gate/facts.ts';
import { isWhatWasJudged, isWhatWasSeen } from '../../src/gate/looked.ts';
import { type PathFacts, resolvePath } from '../../src/tools/files/root.ts';
import { realBinaries } from '../support/binaries.ts';
import { machineBelow } from '../support/machine.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let home: TempHome;
beforeEach(() => {
  home = tempHome();
});
afterEach(() => home.remove());

const at = (name: string): string => join(home.workspace, name);
const put = (name: string): void => {
  mkdirSync(join(at(name), '..'), { recursive: true });
  writeFileSync(at(name), name);
};

const identity = (name: string) => {
  const { dev, ino } = lstatSync(at(name), { bigint: true });
  return { dev, ino };
};

const turn = (...steps: readonly (() => void)[]): void => {
  for (const step of steps) step();
};

/** What a file tool finds at a path. */
function look(given: string, follow = true): PathFacts {
  const place = { root: home.workspace, confined: false, home: home.home };
  const site = { run_id: 'r', call_id: 'c', scope: 'r', ...place, limits: {}, direct: false, command: null };
  const facts = resolvePath(given, place, site, follow);
  if ('ok' in facts) throw new Error(facts.message);
  return facts;
}
const host = () => {
  const machine = { ...machineBelow(home.dir, '/usr/bin'), workspace: home.workspace };
  return createPolicyHosts(machine, realBinaries())(home.workspace);
};

describe('a file that a tool has looked at', () => {
  it.each(['a', './a', 'd/../a', 'd//b', 'd/', 'd', '.', '', 'link', 'to-d/b', 'to-d/new', 'none/of/it', 'dangling'])(
    'is what the rules are asked about: %j',
    (given) => {
      put('a');
      put('d/b');
      symlinkSync('a', at('link'));
      symlinkSync('d', at('to-d'));
      symlinkSync('nothing', at('dangling'));
      for (const path of given === '' ? [home.workspace, '/', `${home.workspace}/a`] : [given]) {
        expect([path, isWhatWasJudged(look(path), host())]).toEqual([path, true]);
        expect([path, isWhatWasJudged(look(path, false), host())]).toEqual([path, true]);
      }
    },
  );

  it.each<[string, string, () => void]>([
    [
      'a link that leads elsewhere',
      'link',
      () =>
        turn(
          () => rmSync(at('link')),
          () => symlinkSync('b', at('link')),
        ),
    ],
    [
      'a link that came',
      'a',
      () =>
        turn(
          () => rmSync(at('a')),
          () => symlinkSync('b', at('a')),
        ),
    ],
    ['another file of the name', 'a', () => renameSync(at('b'), at('a'))],
    [
      'the other name of another file',
      'a',
      () =>
        turn(
          () => rmSync(at('a')),
          () => linkSync(at('b'), at('a')),
        ),
    ],
    ['a file that is gone', 'a', () => rmSync(at('a'))],
    ['a file that came', 'new', () => put('new')],
    [
      'a directory that leads elsewhere',
      'to-d/b',
      () =>
        turn(
          () => rmSync(at('to-d')),
          () => symlinkSync('e', at('to-d')),
        ),
    ],
    [
      'another directory of the name',
      'd/b',
      () =>
        turn(
          () => renameSync(at('d'), at('x')),
          () => renameSync(at('e'), at('d')),
        ),
    ],
    [
      'another directory for a new file',
      'd/new',
      () =>
        turn(
          () => renameSync(at('d'), at('x')),
          () => renameSync(at('e'), at('d')),
        ),
    ],
  ])('is not, after %s', (_name, given, change) => {
    for (const name of ['a', 'b', 'd/b', 'e/b']) put(name);
    symlinkSync('a', at('link'));
    symlinkSync('d', at('to-d'));
    const looked = look(given);
    change();
    expect(isWhatWasJudged(looked, host())).toBe(false);
  });

  it('is compared with what the rules saw, not with what there is by now', () => {
    for (const name of ['a', 'b']) put(name);
    symlinkSync('a', at('d-link'));
    symlinkSync('a', at('link'));
    const looked = look('link');
    const judged = host();
    judged.realPath(at('link'));
    judged.realPath(at('x/../d-link'));
    rmSync(at('link'));
    symlinkSync('b', at('link'));
    expect(isWhatWasJudged(looked, judged)).toBe(true);
    expect(isWhatWasJudged(look('link'), judged)).toBe(false);
  });

  it('that a search comes by is the one that the rules were asked about, by its device and inode', () => {
    for (const name of ['a', 'b']) put(name);
    const seen = { real: at('a'), ...identity('a') };
    expect(isWhatWasSeen(seen, host())).toBe(true);
    renameSync(at('b'), at('a'));
    expect(isWhatWasSeen(seen, host())).toBe(false);
    rmSync(at('a'));
    expect(isWhatWasSeen(seen, host())).toBe(false);
  });

  it('and is none in a directory that became a link behind an earlier look of the same view', () => {
    for (const name of ['d/a', 'd/b', 'e/b']) put(name);
    const view = host();
    expect(isWhatWasSeen({ real: at('d/a'), ...identity('d/a') }, view)).toBe(true);
    const seen = { real: at('d/b'), ...identity('d/b') };
    renameSync(at('d'), at('old'));
    symlinkSync('e', at('d'));
    expect(isWhatWasSeen(seen, view)).toBe(false);
  });

  it('is the link itself where that is meant, in its own directory', () => {
    for (const name of ['d/b', 'e/b']) put(name);
    for (const name of ['d/link', 'e/link']) symlinkSync('b', at(name));
    symlinkSync('d', at('to-d'));
    const looked = look('to-d/link', false);
    expect(isWhatWasJudged(looked, host())).toBe(true);
    rmSync(at('to-d'));
    symlinkSync('e', at('to-d'));
    expect(isWhatWasJudged(looked, host())).toBe(false);
  });
});
