/**
 * Estimated tokens of a text: ASCII characters divided by 4 plus one per other code point, rounded up (04 §13.2).
 * Messages add 4 each; that is the caller's.
 */
export function estimateTokens(text: string): number {
  let ascii = 0;
  let other = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x80) ascii += 1;
    // The second half of a surrogate pair belongs to the code point that its first half counted.
    else if (code < 0xdc00 || code > 0xdfff) other += 1;
  }
  return Math.ceil(ascii / 4 + other);
}
