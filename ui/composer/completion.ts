import type { Draft } from './draft.ts';
import { fuzzyBest } from './fuzzy.ts';
import { mentionAt, writtenMention } from './mention.ts';
import { type ArgumentSource, findCommand, type SlashCommand, slashCommands } from './slash-commands.ts';

/** The list under the composer: what may stand in place of a word of the text. */
export type Completion = {
  readonly kind: 'command' | 'argument' | 'file';
  /** The piece that an item replaces. */
  readonly from: number;
  readonly to: number;
  readonly items: readonly CompletionItem[];
};

export type CompletionItem = {
  /** What is written in place of the word. */
  readonly insert: string;
  readonly label: string;
  readonly detail: string;
  /** Enter runs the line once it is taken. */
  readonly whole: boolean;
};

/** Words from elsewhere that the list is made of. */
export type CompletionWords = {
  readonly words: Readonly<Partial<Record<string, readonly string[]>>>;
  /** Paths that fit a query, checked against the policy; null = none were asked for yet. */
  readonly paths: { readonly query: string; readonly found: readonly string[] } | null;
};

/** What the list needs and does not have yet. */
export type Wanted =
  | { readonly kind: 'paths'; readonly query: string }
  | { readonly kind: 'words'; readonly source: string }
  | null;

const mostItems = 50;
/** Paths that are looked up for one query. */
export const mostPaths = 20;
/** There may be more that fit than the list holds. */
export const isCut = ({ kind, items }: Completion): boolean =>
  items.length >= (kind === 'file' ? mostPaths : mostItems);

/** The list for the word at the caret, and what must be fetched for it. */
export function completionAt(draft: Draft, known: CompletionWords): { list: Completion | null; wanted: Wanted } {
  const { text, caret } = draft;
  if (text.startsWith('/') && !text.startsWith('//')) return slashCompletion(text, caret, known);
  const mention = mentionAt(text, caret);
  return mention === null ? { list: null, wanted: null } : fileCompletion(mention, caret, known, writtenMention);
}

function slashCompletion(
  text: string,
  caret: number,
  known: CompletionWords,
): { list: Completion | null; wanted: Wanted } {
  const name = /^\/(\S*)/.exec(text)?.[1] ?? '';
  if (caret <= name.length + 1) {
    const found = fuzzyBest(text.slice(1, caret), slashCommands, namesOf, mostItems);
    return { list: listOf('command', 1, name.length + 1, found.map(commandItem)), wanted: null };
  }
  const command = findCommand(name);
  const start = text.slice(0, caret).search(/\S*$/);
  const before = text.slice(name.length + 1, start).trim();
  const source = before === '' ? command?.source : command?.behind[before];
  if (command == null || source == null) return { list: null, wanted: null };
  const query = text.slice(start, caret);
  const end = start + (/^\S*/.exec(text.slice(start))?.[0].length ?? 0);
  const isLast = before !== '' || command.most === 1;
  return argumentCompletion(source, { query, start, end, isLast }, known);
}

function argumentCompletion(
  source: ArgumentSource,
  at: { readonly query: string; readonly start: number; readonly end: number; readonly isLast: boolean },
  known: CompletionWords,
): { list: Completion | null; wanted: Wanted } {
  if (source === 'files') return fileCompletion({ from: at.start, query: at.query }, at.end, known, (path) => path);
  const words = typeof source === 'string' ? known.words[source] : source;
  if (words === undefined) return { list: null, wanted: { kind: 'words', source: String(source) } };
  const items = fuzzyBest(at.query, [...new Set(words)], (word) => word, mostItems).map((word) => ({
    insert: word,
    label: word,
    detail: '',
    whole: at.isLast,
  }));
  return { list: listOf('argument', at.start, at.end, items), wanted: null };
}

function fileCompletion(
  mention: { readonly from: number; readonly query: string },
  to: number,
  { paths }: CompletionWords,
  written: (path: string) => string,
): { list: Completion | null; wanted: Wanted } {
  const wanted: Wanted = paths?.query === mention.query ? null : { kind: 'paths', query: mention.query };
  // What fitted the last query stays until the next answer, as far as it fits this one: nothing jumps while somebody
  // types, and Enter never takes what has nothing to do with the word.
  const known = paths?.found ?? [];
  const found = wanted === null ? known : fuzzyBest(mention.query, known, (path) => path, mostItems);
  const items = found.map((path) => ({ insert: written(path), label: path, detail: '', whole: false }));
  return { list: listOf('file', mention.from, to, items), wanted };
}

const listOf = (
  kind: Completion['kind'],
  from: number,
  to: number,
  items: readonly CompletionItem[],
): Completion | null => (items.length === 0 ? null : { kind, from, to, items });

const namesOf = ({ name, aliases }: SlashCommand): string => [name, ...aliases].join(' ');

const commandItem = (command: SlashCommand): CompletionItem => ({
  insert: command.name,
  label: `/${command.name}${command.args === '' ? '' : ` ${command.args}`}`,
  detail: command.help,
  whole: command.least === 0,
});
