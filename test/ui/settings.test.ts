import { expect, it } from 'vitest';
import { settingsOf } from '../../ui/settings.ts';

it('has a default for everything, and takes what is configured', () => {
  expect(settingsOf(new Map())).toEqual({
    theme: null,
    glyphs: null,
    mode: null,
    notify: 'auto',
    clipboard: 'osc52',
    dump: 'last',
    wheel: false,
    calm: false,
    collapse: 8,
    guardMs: 400,
    history: null,
  });
  const given = {
    'tui-theme': 'mine',
    'tui-glyphs': 'ascii',
    'tui-mode': 'screen-reader',
    'tui-notify': 'bell',
    'tui-clipboard': 'file',
    'tui-exit-dump': 'all',
    'tui-mouse': 'wheel',
    'tui-reduced-motion': 'true',
    'tui-collapse-lines': '3',
    'tui-guard-ms': '900',
    'tui-history': '0',
  };
  expect(settingsOf(new Map(Object.entries(given)))).toEqual({
    theme: 'mine',
    glyphs: 'ascii',
    mode: 'screen-reader',
    notify: 'bell',
    clipboard: 'file',
    dump: 'all',
    wheel: true,
    calm: true,
    collapse: 3,
    guardMs: 900,
    history: 0,
  });
});
