import { RuntimeError } from '../schema/errors.ts';
import { builtInProviders } from '../schema/tool-names.ts';
import { quote } from '../text/quote.ts';

/** Names that no other provider may take, and words with another meaning (05 §1.1). */
const builtIn: ReadonlySet<string> = new Set(builtInProviders);
const words: ReadonlySet<string> = new Set(['output', 'end']);

type SourceName = { readonly name: string; readonly what: 'hook' | 'MCP server' };

const namePattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

/**
 * Hooks, tool servers and built-in providers have one namespace, in which case does not tell names apart (05 §1.1).
 * @param what it is to become
 * @param taken registered names with what each is
 * @param url what was given for it, for the advice
 * @throws RuntimeError usage for no name, already_exists for one that is taken, with its owner
 */
export function checkSourceName(
  name: string,
  what: SourceName['what'],
  taken: readonly SourceName[],
  url: string | null,
): void {
  if (!namePattern.test(name)) {
    throw new RuntimeError(
      'usage',
      `"${name.slice(0, 80)}" is not a name here: it begins with a letter or digit and has at most 63 letters, digits, "_" and "-".`,
    );
  }
  const lower = name.toLowerCase();
  if (words.has(lower)) throw new RuntimeError('usage', `"${name}" is a reserved word.`);
  if (builtIn.has(lower)) throw new RuntimeError('usage', `"${name}" is the name of a built-in tool provider.`);
  const owner = taken.find((other) => other.name.toLowerCase() === lower);
  if (owner === undefined) return;
  const command = owner.what === 'hook' ? 'hook' : 'mcp';
  // What was meant to be another kind of thing is no change of this one, and how a server is reached is never changed.
  const update =
    command === 'hook' && what === 'hook' && url !== null
      ? [`reins hook update ${owner.name} --url ${quote(url)}`]
      : [];
  throw new RuntimeError(
    'already_exists',
    `${owner.what === 'hook' ? 'a hook' : 'an MCP server'} named "${owner.name}" exists`,
    {
      hints: [...update, `reins ${command} show ${owner.name}`],
    },
  );
}
