import { expect, it } from 'vitest';
import { say } from '../../src/view/line.ts';
import { cutLine } from '../../src/view/wrap.ts';
import { readThemeFile } from '../../ui/theme-file.ts';
import { themes, builtinTheme, type ColourDepth, ownTheme } from '../../ui/theme.ts';

const mine = (tokens: object, base = 'default') => readThemeFile(JSON.stringify({ version: 1, base, tokens }));
const painted = (tokens: object, depth: ColourDepth): string => {
  const read = mine(tokens);
  if (!read.ok) return read.why;
  return ownTheme('mine', read.base, read.tokens, depth, 'unicode')?.paint([say('x', 'danger')]) ?? '';
};

it('draws what the file says, and the rest like its base', () => {
  expect(painted({ danger: { fg: '#ff00aa', bold: true } }, 'rich')).toBe('\u001b[1;38;2;255;0;170mx\u001b[22;39m');
  expect(painted({ danger: { bg: 'bright blue' } }, 'plain')).toBe('\u001b[104mx\u001b[49m');
  const read = mine({ text: { fg: 231 } });
  const theme = read.ok ? ownTheme('mine', read.base, read.tokens, 'rich', 'unicode') : null;
  expect(theme?.paint([say('body'), say('ok', 'ok')])).toBe('\u001b[38;5;231mbody\u001b[39m\u001b[32mok\u001b[39m');
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
  ['{"version":1,"base":"toString"}', '"base" must be one of default, '],
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

/** Of the colours 0 to 15 as xterm has them; the others are a cube and greys. */
const palette =
  '000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5 7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff'.split(
    ' ',
  );
const rgbOf = (colour: number): readonly number[] => {
  if (colour < 16) return [0, 2, 4].map((at) => Number.parseInt((palette[colour] ?? '').slice(at, at + 2), 16));
  if (colour > 231) return [8 + (colour - 232) * 10, 8 + (colour - 232) * 10, 8 + (colour - 232) * 10];
  return [36, 6, 1].map((step) => [0, 95, 135, 175, 215, 255][Math.floor((colour - 16) / step) % 6] ?? 0);
};
const light = (colour: number): number => {
  const [r = 0, g = 0, b = 0] = rgbOf(colour).map((part) =>
    part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (one: number, other: number): number => {
  const [dark = 0, bright = 0] = [light(one), light(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
};

it.each([
  ['default', 'plain', 0],
  ['dark', 'rich', 0],
  ['daltonized', 'plain', 0],
  ['daltonized-dark', 'rich', 0],
  ['light', 'rich', 15],
  ['daltonized-light', 'rich', 15],
] as const)('can be read: every colour of %s with %s colours', (name, depth, background) => {
  const tokens = Object.entries(themes[name]?.[depth] ?? {}).filter(([token]) => token !== 'border');
  const faint = tokens.flatMap(([token, { fg, bg }]) =>
    typeof fg === 'number' && contrast(fg, typeof bg === 'number' ? bg : background) < 3 ? [token] : [],
  );
  expect(faint).toEqual([]);
});
