import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Theme } from '../../ui/theme.ts';
import { userDirectories } from '../app-options.ts';
import { toWire, usage } from '../schema/errors.ts';
import type { Context } from './context.ts';
import { readOwnFile } from './own-file.ts';

const themeFileName = /^([a-z0-9][a-z0-9_-]{0,63})\.json$/;

/** The program's themes and the operator's own. `named` throws RuntimeError usage, with what is wrong. */
export async function themesOf(context: Context) {
  const directory = join(userDirectories(context.process).reinsHome, 'themes');
  const { builtinTheme, ownTheme, themes } = await import('../../ui/theme.ts');
  const { readThemeFile } = await import('../../ui/theme-file.ts');
  const named = (name: string, configured: string | null): Theme => {
    const glyphs = glyphsOf(context, configured);
    const builtin = builtinTheme(name, depthOf(context), glyphs);
    if (builtin !== null) return builtin;
    const path = join(directory, `${name}.json`);
    const own = themeFileName.test(`${name}.json`) ? readTheme(path) : null;
    if (own === null)
      throw usage(
        `there is no theme "${name.slice(0, 64)}" (${Object.keys(themes).join(', ')}, or a file in ${directory})`,
      );
    if (!own.ok) throw usage(`theme ${path}: ${own.why}`);
    const theme = ownTheme(name, own.base, own.tokens, depthOf(context), glyphs);
    if (theme === null) throw usage(`theme ${path}: there is no theme "${own.base}"`);
    return theme;
  };
  const readTheme = (path: string) => {
    try {
      const text = readOwnFile(path);
      return text === null ? null : readThemeFile(text);
    } catch (error) {
      return { ok: false, why: toWire(error).message } as const;
    }
  };
  const own = (): readonly string[] => {
    try {
      return readdirSync(directory).flatMap((file) => themeFileName.exec(file)?.[1] ?? []);
    } catch {
      // None that can be read is none.
      return [];
    }
  };
  return { named, names: () => [...Object.keys(themes), ...own()] };
}

function depthOf({ invocation, process: { environment } }: Context): 'none' | 'plain' | 'rich' {
  if ((environment['NO_COLOR'] ?? '') !== '' || invocation.flags.bool('color') === false) return 'none';
  if (environment['FORCE_COLOR'] === '0') return 'none';
  return /256|truecolor|24bit/.test(`${environment['TERM'] ?? ''} ${environment['COLORTERM'] ?? ''}`)
    ? 'rich'
    : 'plain';
}

/** Signs of Unicode only where the locale has them. */
function glyphsOf({ invocation, process: { environment } }: Context, configured: string | null): 'unicode' | 'ascii' {
  const wanted = invocation.flags.text('glyphs') ?? configured ?? 'auto';
  if (wanted === 'unicode' || wanted === 'ascii') return wanted;
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'] || '';
  return /utf-?8/i.test(locale) ? 'unicode' : 'ascii';
}
