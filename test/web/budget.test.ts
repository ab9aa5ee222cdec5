import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { builtAt } from '../support/built-at.ts';

const web = join(builtAt, 'web');
const assets = readdirSync(join(web, 'assets'));

/** A script with everything that it imports at once. */
function withImports(name: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const text = readFileSync(join(web, 'assets', name), 'utf8');
  for (const [, found] of text.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)) {
    if (found !== undefined) withImports(found, seen);
  }
  return seen;
}

const named = (start: string): string => assets.find((name) => name.startsWith(start) && name.endsWith('.js')) ?? '';

it('sends at most 250 KB of script before the first chat is drawn', () => {
  const page = readFileSync(join(web, 'index.html'), 'utf8');
  const entry = /src="\/assets\/([\w.-]+\.js)"/.exec(page)?.[1] ?? '';
  const needed = new Set([entry, named('chat-'), named('markdown-body-')].flatMap((name) => [...withImports(name)]));
  const bytes = [...needed].reduce((sum, name) => sum + readFileSync(join(web, 'assets', `${name}.gz`)).length, 0);
  expect(bytes).toBeLessThanOrEqual(250_000);
});

it('has no script in its page, no map, and everything compressed beside it', () => {
  const page = readFileSync(join(web, 'index.html'), 'utf8');
  expect(page.match(/<script(?![^>]*\bsrc=)/g)).toBeNull();
  expect(assets.filter((name) => name.endsWith('.map'))).toEqual([]);
  const plain = assets.filter((name) => /\.(?:js|css)$/.test(name));
  expect(plain.filter((name) => !existsSync(join(web, 'assets', `${name}.br`)))).toEqual([]);
});
