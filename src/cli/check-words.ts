import { usage } from '../schema/errors.ts';
import type { Candidates, Command } from './command.ts';

/** What an argument names is there already; of these the value of a config key may be empty, and help has its own words. */
const unnamed: ReadonlySet<Candidates> = new Set(['config-value', 'command', 'subcommand']);

/**
 * @throws RuntimeError usage: a command without its subcommand, a word missing, empty where it names something, too many,
 * or outside the accepted ones
 */
export function checkWords(path: readonly Command[], words: readonly string[]): void {
  const command = path.at(-1);
  if (command === undefined) return;
  const name = path.map((entry) => entry.name).join(' ');
  const hints = [`reins ${name} --help`];
  if (command.commands !== undefined && command.bare !== true) {
    throw usage(`"${name}" needs a subcommand (${command.commands.map((entry) => entry.name).join(', ')})`, hints);
  }
  const expected = command.arguments ?? [];
  const missing = expected.slice(words.length).find((argument) => argument.required === true);
  if (missing !== undefined) throw usage(`"${name}" needs <${missing.name}>`, hints);
  if (words.length > expected.length && expected.at(-1)?.many !== true) {
    throw usage(`"${name}" takes no further word: "${words[expected.length] ?? ''}"`, hints);
  }
  for (const [index, word] of words.entries()) {
    const argument = expected[index] ?? expected.at(-1);
    if (word !== '' || argument?.candidates === undefined || unnamed.has(argument.candidates)) continue;
    throw usage(`"${name}" needs <${argument.name}>, and was given an empty word`, hints);
  }
  for (const [index, argument] of expected.entries()) {
    const word = words[index];
    if (word === undefined || argument.words === undefined || argument.candidates !== undefined) continue;
    if (!argument.words.includes(word)) {
      throw usage(`unknown ${argument.name} "${word}" (${argument.words.join(', ')})`);
    }
  }
}
