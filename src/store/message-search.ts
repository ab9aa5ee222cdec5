import { randomBytes } from 'node:crypto';
import type { Sql } from './sql.ts';

/** What is looked for; at least one of the two says something. */
export type SearchTerms = {
  /** An FTS5 expression; null when nothing is looked up in the index. */
  readonly match: string | null;
  /** Texts that must occur as they stand, read from the messages themselves. */
  readonly literals: readonly string[];
};

/** A piece of a text that was found; pieces with `hit` are what was looked for. */
export type FoundPiece = { readonly text: string; readonly hit: boolean };

export type FoundMessage = {
  readonly session_id: string;
  readonly session: string;
  readonly id: string;
  readonly seq: number;
  readonly role: string;
  readonly kind: string;
  readonly run_id: string | null;
  readonly created_at: number;
  /** The passage around what was found, from the index; null when the index was not asked. */
  readonly pieces: readonly FoundPiece[] | null;
  /** The whole text; null when the passage is there. */
  readonly text: string | null;
};

/** How many matches, the newest, are ranked: ranking reads every word of each. */
const mostRanked = 5000;

type Candidate = { readonly number: number; readonly score: number; readonly said: string | null };

/** The full-text index of messages (migration 0002), of one tenant. */
export function createMessageSearch(sql: Sql, tenant: string) {
  const ofTenant = `t.session_id IN (SELECT id FROM sessions WHERE tenant_id = ?)`;

  /** What a message must meet, and where it is looked for. */
  const meeting = ({ match, literals }: SearchTerms) => ({
    from:
      match === null
        ? 'messages m CROSS JOIN message_texts t ON t.message_id = m.id'
        : 'message_search f JOIN message_texts t ON t.number = f.rowid',
    where: [
      // Payloads are written by JSON.stringify: most that do not hold the text need not be parsed to know it.
      match === null ? 'instr(m.payload, ?) > 0' : 'message_search MATCH ?',
      ofTenant,
      ...literals.map(() => 'instr((SELECT v.text FROM searchable_messages v WHERE v.number = t.number), ?) > 0'),
    ].join(' AND '),
    params: [match ?? JSON.stringify(literals[0] ?? '').slice(1, -1), tenant, ...literals],
  });

  const candidates = (terms: SearchTerms, sessionId: string | null): Candidate[] => {
    const { from, where, params } = meeting(terms);
    const [score, order] = terms.match === null ? ['0.0', 't.number'] : ['bm25(message_search)', 'f.rowid'];
    return sql.all<Candidate>(
      `SELECT t.number, t.said, ${score} AS score FROM ${from} WHERE ${where}
       ${sessionId === null ? '' : 'AND t.session_id = ?'} ORDER BY ${order} DESC LIMIT ${mostRanked}`,
      ...params,
      ...(sessionId === null ? [] : [sessionId]),
    );
  };

  /** What is shown of the chosen messages. `+` keeps the index from being asked once for each of them. */
  const details = (numbers: readonly number[], match: string | null): ReadonlyMap<number, FoundMessage> => {
    // Texts may hold anything, so what marks a hit is made up for this one query.
    const mark = randomBytes(12).toString('hex');
    const [open, close] = [`<${mark}>`, `</${mark}>`];
    const columns = 's.id AS session_id, s.name AS session, m.id, m.seq, m.role, m.kind, m.run_id, m.created_at';
    const joined = 'JOIN messages m ON m.id = t.message_id JOIN sessions s ON s.id = m.session_id';
    const chosen = JSON.stringify(numbers);
    type Row = Omit<FoundMessage, 'pieces' | 'text'> & { readonly number: number; readonly found: string };
    const rows =
      match === null
        ? sql.all<Row>(
            `SELECT v.number, v.text AS found, ${columns} FROM searchable_messages v
             JOIN message_texts t ON t.number = v.number ${joined} WHERE v.number IN (SELECT value FROM json_each(?))`,
            chosen,
          )
        : sql.all<Row>(
            `SELECT t.number, snippet(message_search, 0, ?, ?, '…', 24) AS found, ${columns}
             FROM message_search f JOIN message_texts t ON t.number = f.rowid ${joined}
             WHERE message_search MATCH ? AND +f.rowid IN (SELECT value FROM json_each(?))`,
            open,
            close,
            match,
            chosen,
          );
    return new Map(
      rows.map(({ number, found, ...message }) => [
        number,
        match === null
          ? { ...message, text: found, pieces: null }
          : { ...message, text: null, pieces: piecesOf(found, open, close) },
      ]),
    );
  };

  return {
    /** Ids of the sessions that have such a message. */
    sessions(terms: SearchTerms): ReadonlySet<string> {
      const { from, where, params } = meeting(terms);
      const rows = sql.all<{ session_id: string }>(
        `SELECT DISTINCT t.session_id FROM ${from} WHERE ${where}`,
        ...params,
      );
      return new Set(rows.map(({ session_id }) => session_id));
    },

    /** The best matches, equally good ones newest first; a message that forks copied once, where it was said. */
    find(
      terms: SearchTerms,
      want: { readonly sessionId: string | null; readonly limit: number },
    ): { readonly found: readonly FoundMessage[]; readonly total: number; readonly complete: boolean } {
      const all = candidates(terms, want.sessionId);
      const once = originals(all);
      const chosen = once
        .toSorted((a, b) => a.score - b.score || b.number - a.number)
        .slice(0, want.limit)
        .map(({ number }) => number);
      const shown = details(chosen, terms.literals.length > 0 ? null : terms.match);
      return {
        found: chosen.flatMap((number) => shown.get(number) ?? []),
        total: once.length,
        complete: all.length < mostRanked,
      };
    },
  };
}

export type MessageSearch = ReturnType<typeof createMessageSearch>;

/** Of candidates that are copies of one message the oldest. Candidates come newest first. */
function originals(all: readonly Candidate[]): readonly Candidate[] {
  const once = new Map<string, Candidate>();
  for (const candidate of all) once.set(candidate.said ?? `number ${candidate.number}`, candidate);
  return [...once.values()];
}

function piecesOf(marked: string, open: string, close: string): FoundPiece[] {
  return marked.split(open).flatMap((part, index) => {
    if (index === 0) return [{ text: part, hit: false }];
    const end = part.indexOf(close);
    return [
      { text: part.slice(0, end), hit: true },
      { text: part.slice(end + close.length), hit: false },
    ];
  });
}
