import type { FoundCommand } from '../schema/command.ts';
import type { Analysis } from './analysis.ts';

/** What a line may hold beside commands that are joined by operators; quoted texts and descriptors are put away before. */
const beyond =
  /["'\\(){}<>#&`$]|(?:^|[\s;|])(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|select|time|!)(?=$|[\s;|])/;

/**
 * The commands of a line by the pipelines that they stand in, each with those that it reveals. All together where the text of
 * the line does not show at once where one ends, or one leaves something in a file that another may read.
 */
export function pipelinesOf({ commands, unquoted }: Analysis): readonly (readonly FoundCommand[])[] {
  const own = commands.filter(({ revealed }) => !revealed);
  const text = (unquoted ?? '"')
    .replace(/"[^"\\]*"/g, 'x')
    .replace(/[12]?>\s*\/dev\/null(?![^\s;|&])|2>&1(?![^\s;|&])/g, '');
  const segments = text
    .split(/&&|\|\||[;\n]/)
    .filter((segment) => segment.trim() !== '')
    .map((segment) => (beyond.test(segment) ? Number.NaN : segment.split('|').length));
  // NaN is no sum that any count equals.
  if (segments.reduce((sum, count) => sum + count, 0) !== own.length) return [commands];
  const groups: FoundCommand[][] = [];
  let left = 0;
  for (const command of commands) {
    if (!command.revealed && left === 0) {
      left = segments[groups.length] ?? 0;
      groups.push([]);
    }
    if (!command.revealed) left -= 1;
    groups.at(-1)?.push(command);
  }
  return groups;
}
