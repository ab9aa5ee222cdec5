import { createHmac } from 'node:crypto';
import { userName } from './operator-name.ts';

const leastPoints = 12;
export const maxPasswordBytes = 1024;
/** bcrypt reads no further. */
const bcryptBytes = 72;

/** One spelling for the same characters, on set and on verify. */
export const normalise = (password: string): string => password.normalize('NFKC');

/**
 * What is hashed for a normalised password (09 §4.3): itself up to 72 bytes, a digest in printable form of a longer one,
 * so that every byte of it counts.
 */
export const hashable = (normalised: string): string =>
  Buffer.byteLength(normalised) <= bcryptBytes
    ? normalised
    : createHmac('sha256', 'reins-password-v1').update(normalised).digest('base64');

/** Why a password is not taken; null when it is. */
export function weaknessOf(password: string): string | null {
  const normalised = normalise(password);
  const points = [...normalised];
  if (points.length < leastPoints) return `It needs at least ${leastPoints} characters.`;
  if (Buffer.byteLength(normalised) > maxPasswordBytes) return `It may have at most ${maxPasswordBytes} bytes.`;
  if (/\p{Cc}/u.test(normalised)) return 'It must not hold control characters.';
  if (new Set(points).size === 1) return 'It is one character again and again.';
  if (normalised.toLowerCase() === userName) return 'It is the user name.';
  return isCommon(normalised.toLowerCase()) ? 'It is one of the first that anybody would try.' : null;
}

/** The words and endings that lists of stolen passwords are made of: 40 by 25 is the thousand that is refused. */
const words =
  'password passw0rd p@ssw0rd admin administrator welcome letmein qwerty qwertyuiop asdfghjkl zxcvbnm iloveyou monkey dragon football baseball basketball superman batman sunshine princess shadow master michael jordan jennifer charlie computer internet samsung google starwars pokemon trustno1 whatever freedom changeme default secret login'.split(
    ' ',
  );
const endings =
  '1 12 123 1234 12345 123456 1234567 12345678 123456789 1234567890 0 00 007 11 111 1111 69 99 2020 2021 2022 2023 2024 2025 2026'.split(
    ' ',
  );

function isCommon(password: string): boolean {
  const bare = password.replace(/[!.?*#@$]+$/, '');
  const ending = [...endings, ''].find(
    (one) => bare.endsWith(one) && isRepeated(bare.slice(0, bare.length - one.length)),
  );
  return ending !== undefined || '01234567890123456789'.includes(bare) || '98765432109876543210'.includes(bare);
}

/** One of the words, once or several times. */
const isRepeated = (text: string): boolean =>
  words.some(
    (word) => text.length > 0 && text.length % word.length === 0 && word.repeat(text.length / word.length) === text,
  );
