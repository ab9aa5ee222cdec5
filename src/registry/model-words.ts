import { RuntimeError } from '../schema/errors.ts';
import { capabilityNames } from '../schema/registry.ts';

/** What an operator types about a model (06, `model`). */

/** @throws RuntimeError usage */
export function checkName(name: string): void {
  if (/^[^\s\p{Cc}]{1,512}$/u.test(name)) return;
  throw new RuntimeError('usage', 'The name of a model is 1 to 512 characters without blanks.');
}

/** @throws RuntimeError usage, naming the flag */
export function checkTokens(flag: string, tokens: number | null): void {
  if (tokens === null || (Number.isInteger(tokens) && tokens >= 1 && tokens <= 1_000_000_000)) return;
  throw new RuntimeError('usage', `${flag} takes a number of tokens above 0, such as 32768 or 32k.`);
}

/** `tools`, `no-tools`, …: what the model can do and cannot. @throws RuntimeError usage */
export function readCapabilityWords(words: readonly string[]): Readonly<Record<string, boolean>> {
  const found: Record<string, boolean> = {};
  for (const word of words.flatMap((text) => text.split(',')).map((text) => text.trim())) {
    const denied = word.startsWith('no-');
    const name = capabilityNames.find((known) => known === (denied ? word.slice(3) : word));
    if (name === undefined) {
      throw new RuntimeError(
        'usage',
        `"${word}" is not a capability; they are ${capabilityNames.join(', ')}, each also with no- in front.`,
      );
    }
    if (found[name] === denied) throw new RuntimeError('usage', `"${name}" and "no-${name}" exclude each other.`);
    found[name] = !denied;
  }
  return found;
}
