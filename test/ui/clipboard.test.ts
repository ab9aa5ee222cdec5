import { expect, test } from 'vitest';
import { copyText } from '../../ui/clipboard.ts';

test.each([
  ['a\tb\r\nc', 'copied 6 bytes'],
  ['a\u202eb', 'copied 5 bytes; it holds hidden characters: U+202E'],
  // A joiner of its own, and a sign that stands for an escape on the screen.
  ['a\u200db', 'copied 5 bytes; it holds characters that are shown escaped'],
  ['␛[31m', 'copied 7 bytes; it holds characters that are shown escaped'],
])('%j is copied as it came, and what of it is shown otherwise is said', (text, said) => {
  const copied = copyText(text, 'osc52', false, 0);
  expect(copied).toEqual({ bytes: `\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`, said });
});
