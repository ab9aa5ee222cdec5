import { firstGroups } from './first-groups.ts';

/** How names in a patch become paths. */
export type Way = {
  /** Directories that are taken away from the begin; null: all, or none. */
  readonly strip: number | null;
  /** The directory below which they lie; empty: where the command is. */
  readonly into: string;
};

/** Most names of one patch. */
const maxNames = 1024;

const header =
  /^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |--- |\+\+\+ |\*\*\* |Index: |(?:rename|copy) (?:from|to) )([^\t\r\n]+)/gm;
const pair = /^diff --git ([^\r\n]+)/gm;

/** The files that a patch names; null where it does not show them. */
export function patchedBy(text: string, { strip, into }: Way): readonly string[] | null {
  // A mail may hold it in another spelling.
  if (/^Content-Transfer-Encoding:\s*(?:base64|quoted-printable)/im.test(text)) return null;
  const pairs = firstGroups(pair, text, maxNames).flatMap((names) => {
    const middle = (names.length - 1) / 2;
    return names.charAt(middle) === ' ' ? [names.slice(0, middle), names.slice(middle + 1)] : [];
  });
  const names = [...firstGroups(header, text, maxNames), ...pairs].map(unquoted);
  if (names.length >= maxNames || names.some((name) => /[$`]/.test(name))) return null;
  const files = names.flatMap((name) => (name === '/dev/null' ? [] : stripped(name, strip)));
  return [...new Set(files)].map((file) => (into === '' ? file : `${into}/${file}`));
}

/** A name in quotes has its bytes in octal: those of one letter each matter here. */
const unquoted = (name: string): string =>
  /^".*"$/.test(name)
    ? name
        .slice(1, -1)
        .replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))
        .replace(/\\(["\\])/g, '$1')
    : name.trim();

/** Without a number it is the last part, or where there is such a directory the whole. */
function stripped(name: string, strip: number | null): readonly string[] {
  const parts = name.split('/');
  const last = parts.at(-1) ?? name;
  return strip === null ? [name, last] : [parts.slice(Math.min(strip, parts.length - 1)).join('/'), name];
}
