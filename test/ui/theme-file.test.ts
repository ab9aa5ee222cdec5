import { expect, it } from 'vitest';
import { say } from '../../src/view/line.ts';
import { cutLine } from '../../src/view/wrap.ts';
import { readThemeFile } from '../../ui/theme-file.ts';
import { builtinTheme, type ColourDepth, ownTheme } from '../../ui/theme.ts';

const mine = (tokens: object, base = 'default') => readThemeFile(JSON.stringify({ version: 1, base, tokens }));
const painted = (tokens: object, depth: ColourDepth): string => {
  const read = mine(tokens);
  if (!read.ok) return read.why;
  return ownTheme('mine', read.base, read.tokens, depth, 'unicode')?.paint([say('x', 'danger')]) ?? '';
};

it('draws what the file says, and the rest like its base', () => {
  expect(painted({ danger: { fg: '#ff00aa', bold: true } }, 'rich')).toBe('\u001b[1;38;2;255;0;170mx\u001b[22;39m');
  expect(painted({ danger: { bg: 'bright blue' } }, 'plain')).toBe('\u001b[104mx\u001b[49m');
  expect(painted({}, 'rich')).toBe('\u001b[31mx\u001b[39m');
});

it('keeps the base where the terminal has too few colours, and has none where there are none', () => {
  expect(painted({ danger: { fg: 208 } }, 'plain')).toBe('\u001b[31mx\u001b[39m');
  expect(painted({ danger: { fg: 208 } }, 'none')).toBe('\u001b[1;7mx\u001b[22;27m');
});

it.each([
  ['{', 'is not JSON: '],
  ['[]', 'must be an object'],
  ['{"version":2}', '"version" must be 1'],
  ['{"version":1,"base":"mine"}', '"base" must be one of default, '],
  ['{"version":1,"colors":{}}', 'has "colors", which is none of version, base, tokens'],
  ['{"version":1,"tokens":{"dangr":{}}}', '"tokens.dangr" is none of text, '],
  ['{"version":1,"tokens":{"danger":{"fg":"rot"}}}', '"tokens.danger.fg" is no colour'],
  ['{"version":1,"tokens":{"danger":{"fg":256}}}', '"tokens.danger.fg" is no colour'],
  ['{"version":1,"tokens":{"danger":{"bold":1}}}', '"tokens.danger.bold" must be true or false'],
  ['{"version":1,"tokens":{"danger":{"colour":"red"}}}', '"tokens.danger.colour" is none of fg, bg, bold, reverse'],
])('refuses %s and says where', (text, why) => {
  const read = readThemeFile(text);
  expect(read.ok ? '' : read.why).toContain(why);
});

it('draws the chrome with signs of ASCII where the locale has no others, in as many columns', () => {
  const theme = builtinTheme('mono', 'none', 'ascii');
  expect(theme?.paint([say('┌─ › • … · ▼ ↑↓ ─┐')])).toBe('+- > * . - v ^v -+');
  expect(theme?.paint(cutLine([say('src/http/retry.ts')], 10))).toBe('src/htt...');
});
