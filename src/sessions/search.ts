import { RuntimeError } from '../schema/errors.ts';
import type { MessageHit, Passage, SearchResult } from '../schema/session.ts';
import type { FoundMessage, FoundPiece, MessageSearch, SearchTerms } from '../store/message-search.ts';
import type { SessionRow } from '../store/sessions.ts';
import { isRole } from './message-view.ts';
import { stamp } from '../text/stamp.ts';

export type SearchDeps = {
  readonly search: MessageSearch;
  readonly find: (name: string) => SessionRow;
};

export type SearchInput = {
  readonly text: string;
  /** Name of the one session to look in; null = all. */
  readonly session: string | null;
  readonly limit: number;
};

const mostCharacters = 1000;
/** How much of a passage is shown before, within and behind what was found, in characters. */
const mostOfPiece = 160;

/**
 * Messages that hold all the words of a text, best first. `"two words"` stand together; a word of three letters or more
 * also finds the words that begin with it.
 * @throws RuntimeError usage, not_found
 */
export function searchMessages(deps: SearchDeps, input: SearchInput): SearchResult {
  const terms = readTerms(input.text);
  if (terms === null) {
    throw new RuntimeError('usage', 'There is nothing to look for.', { hints: ['reins session search "two words"'] });
  }
  const sessionId = input.session === null ? null : deps.find(input.session).id;
  const { found, total, complete } = deps.search.find(terms, { sessionId, limit: input.limit });
  return { hits: found.map((message) => hitOf(message, terms)), total, complete };
}

/**
 * Ids of the sessions with a message that holds all the words of a text, as `searchMessages` reads it; none where it says
 * nothing to look for. @throws RuntimeError usage
 */
export function sessionsThatSay(search: MessageSearch, text: string): ReadonlySet<string> {
  const terms = readTerms(text);
  return terms === null ? new Set() : search.sessions(terms);
}

/** Passages that are read for a list of sessions. Those of the others are not worth another search. */
const mostPassages = 200;

/** The best passage of each session in which the words of a text were said, as far as they are among the best of all. */
export function passagesThatSay(search: MessageSearch, text: string): ReadonlyMap<string, Passage> {
  const terms = readTerms(text);
  const passages = new Map<string, Passage>();
  if (terms === null) return passages;
  for (const found of search.find(terms, { sessionId: null, limit: mostPassages }).found) {
    if (passages.has(found.session_id)) continue;
    const { snippet, matches } = hitOf(found, terms);
    passages.set(found.session_id, { snippet, matches });
  }
  return passages;
}

const isWord = /[\p{L}\p{N}\p{Co}]/u;
/**
 * Scripts whose words the index does not see apart: those that put no blanks between them, and those that write small
 * words onto the next (the article and "and" of Arabic and Hebrew) or onto the one before (particles of Korean).
 */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Arabic}\p{Script=Hebrew}]/u;

/**
 * What the index can look up, and what must be looked for in the texts: signs, and scripts without words apart. Null where
 * there is neither.
 */
function readTerms(text: string): SearchTerms | null {
  if (text.length > mostCharacters) {
    throw new RuntimeError('usage', `The text to look for may have ${mostCharacters} characters.`);
  }
  const match: string[] = [];
  const literals: string[] = [];
  // A NUL would end the expression.
  for (const [, phrase, word] of text
    .normalize('NFC')
    .replaceAll('\0', ' ')
    .matchAll(/"([^"]*)"|([^\s"]+)/gu)) {
    const wanted = (phrase ?? word ?? '').trim();
    if (wanted === '') continue;
    if (!isWord.test(wanted) || unspaced.test(wanted)) literals.push(wanted);
    // A quoted string is words and nothing else to FTS5, whatever is in it.
    else match.push(`"${wanted}"${phrase === undefined && begins(wanted) ? ' *' : ''}`);
  }
  if (match.length + literals.length === 0) return null;
  return { match: match.length === 0 ? null : match.join(' AND '), literals };
}

/** Whether its last word is long enough to stand for those that begin with it. */
const begins = (word: string): boolean => /[\p{L}\p{M}\p{N}\p{Co}]{3}[^\p{L}\p{M}\p{N}\p{Co}]*$/u.test(word);

function hitOf(message: FoundMessage, terms: SearchTerms): MessageHit {
  const pieces = message.pieces ?? around(message.text ?? '', terms.literals[0] ?? '');
  const snippet: string[] = [];
  const matches: { start: number; end: number }[] = [];
  let length = 0;
  for (const [index, { text, hit }] of pieces.entries()) {
    const shown = shorten(text.replaceAll(/\s+/gu, ' '), index === 0, index === pieces.length - 1);
    if (hit) matches.push({ start: length, end: length + shown.length });
    snippet.push(shown);
    length += shown.length;
  }
  return {
    session: message.session,
    session_id: message.session_id,
    seq: message.seq,
    id: message.id,
    role: isRole(message.role) ? message.role : 'assistant',
    kind: message.kind === 'summary' ? 'summary' : 'message',
    run_id: message.run_id,
    created_at: stamp(message.created_at),
    snippet: snippet.join(''),
    matches,
  };
}

function around(text: string, literal: string): readonly FoundPiece[] {
  const at = text.indexOf(literal);
  if (at < 0) return [{ text, hit: false }];
  return [
    { text: text.slice(0, at), hit: false },
    { text: literal, hit: true },
    { text: text.slice(at + literal.length), hit: false },
  ];
}

/** What is far from a hit goes: one word may be a megabyte. */
function shorten(text: string, first: boolean, last: boolean): string {
  if (text.length <= mostOfPiece) return text;
  const half = mostOfPiece / 2;
  const head = text.slice(0, half).toWellFormed();
  const tail = text.slice(-half).toWellFormed();
  if (first) return `…${tail}`;
  return last ? `${head}…` : `${head}…${tail}`;
}
