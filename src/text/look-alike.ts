/** A line as an eye takes it: quotes, dashes, blanks and forms of Unicode that look alike are the same. Pure. */
export function lookAlike(line: string): string {
  // Most lines of most files; the rest costs ten times as much.
  if (/^[\x20-\x7e]*$/.test(line)) return line.trim().replace(/ +/g, ' ');
  return line
    .normalize('NFKC')
    .replace(/[\u2018\u2019\u201a\u2032]/g, "'")
    .replace(/[\u201c\u201d\u201e\u2033\u00ab\u00bb]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u200b-\u200d\u2060\ufeff\u00ad]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The same text with the codes (`\u00a0`) of blanks, quotes, dashes and marks on letters that an eye takes for others. */
export const withCodes = (text: string): string =>
  text.replace(/[\u007f-\u00a0\u00ad\u2000-\u2025\u2027-\u206f\u3000\ufeff]|\p{M}/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
