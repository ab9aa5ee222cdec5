const beyondAscii = /[\u0080-\uffff]/;

/**
 * Estimated tokens of a text: ASCII characters divided by 4 plus one per other code point, rounded up (04 §13.2).
 * Messages add 4 each; that is the caller's.
 */
export function estimateTokens(text: string): number {
  // Most texts are ASCII, and the regular expression knows it at half the cost of the look below.
  if (!beyondAscii.test(text)) return Math.ceil(text.length / 4);
  let ascii = 0;
  let other = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x80) ascii += 1;
    else {
      other += 1;
      // A pair is one code point; half of one counts as itself.
      if (code >= 0xd800 && code < 0xdc00 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) index += 1;
    }
  }
  return Math.ceil(ascii / 4 + other);
}
