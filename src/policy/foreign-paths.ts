import { parseUrl } from '../text/parse-url.ts';

/**
 * A path as a tool that is not ours may take it: without the blanks around it, `~` alone as the home directory, and the path
 * of a `file:` URL. Read as a name in the workspace, each of them would be let through where only that is allowed.
 */
export function foreignPath(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '~') return '~/';
  return isFileUrl(trimmed) ? fileUrlPath(trimmed) : trimmed;
}

/**
 * It names a path under whatever name it stands. The parser of URLs takes away blanks and controls in front, and tabs and
 * line ends everywhere.
 */
export const isFileUrl = (value: unknown): value is string =>
  typeof value === 'string' && /^[\0-\x20]*f[\t\n\r]*i[\t\n\r]*l[\t\n\r]*e[\t\n\r]*:[\t\n\r]*\S/i.test(value);

/** The path of a `file:` URL as a tool would open it. */
export function fileUrlPath(text: string): string {
  const pathname = parseUrl(text)?.pathname;
  if (pathname === undefined) return text.slice(text.indexOf(':') + 1);
  const path = /^\/[A-Za-z]:(\/|$)/.test(pathname) ? pathname.slice(1) : pathname;
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
