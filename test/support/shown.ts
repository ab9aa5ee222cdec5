import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A document for people that shows files and what commands print. */
export type Shown = {
  readonly text: string;
  /** Every file that it shows, by the name above it. */
  readonly files: readonly { readonly name: string; readonly text: string }[];
  /** Every command that it shows with what it prints, in order. */
  readonly session: readonly { readonly argv: readonly string[]; readonly printed: string }[];
};

/** @param path of the document, from the root of the project */
export function shownIn(path: string): Shown {
  const text = readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
  const files = [...text.matchAll(/^`([\w.-]+\.json)`\n\n```json\n([\s\S]*?)\n```$/gm)].map(
    ([, name = '', content = '']) => ({ name, text: content }),
  );
  const session = [...text.matchAll(/^```\n(\$ [\s\S]*?)\n```$/gm)].flatMap(([, block = '']) =>
    block
      .split(/^\$ reins /m)
      .slice(1)
      .map((part) => {
        const [command = '', ...printed] = part.trimEnd().split('\n');
        const words = command.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
        return { argv: words.map((word) => word.replace(/^(["'])(.*)\1$/, '$2')), printed: printed.join('\n') };
      }),
  );
  return { text, files, session };
}
