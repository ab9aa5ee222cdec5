/** Longest `detail`, `seen` and `why` of a record, in characters (02 §8). */
const maxLength = 200;

/** Most texts: nothing in them is escaped. Building the expression below costs more than a whole evaluation. */
const printable = /^[\x20-\x7e]*$/;

/** A text of a call as a record may hold it: one line, control and format characters escaped, at most 200 characters. */
export function shown(text: string): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
  if (printable.test(cut)) return cut;
  const escaped = cut.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return escaped.length > maxLength ? `${escaped.slice(0, maxLength - 1)}…` : escaped;
}

/** A value as it was tested: strings as they are, everything else as JSON. Never throws. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return shown(value);
  try {
    return shown(JSON.stringify(value) ?? 'nothing');
  } catch {
    return 'a value without a JSON form';
  }
}
