import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { searchMessages, sessionsThatSay } from '../../src/sessions/search.ts';
import { createMessageSearch } from '../../src/store/message-search.ts';
import { tenant } from '../store/open.ts';
import { createPlace, type Place } from './place.ts';

let place: Place;
beforeEach(async () => {
  place = await createPlace();
  place.add('work');
  place.add('play');
});
afterEach(() => place.close());

const search = (text: string, over: { session?: string; limit?: number } = {}, of = tenant) =>
  searchMessages(
    { search: createMessageSearch(place.store.sql, of), find: place.find },
    { text, session: over.session ?? null, limit: over.limit ?? 20 },
  );
const found = (text: string, over?: { session?: string; limit?: number }): string[] =>
  search(text, over).hits.map(({ session, seq }) => `${session} ${seq}`);
/** The snippet with its matches in brackets. */
const marked = (text: string): string[] =>
  search(text).hits.map(({ snippet, matches }) =>
    matches
      .toReversed()
      .reduce((out, { start, end }) => `${out.slice(0, start)}[${out.slice(start, end)}]${out.slice(end)}`, snippet),
  );

describe('a search', () => {
  it('finds what people, models and summaries said, in all sessions', () => {
    place.say('work', 'user', 'the retry loop');
    place.say('work', 'tool', 'loop of a tool');
    place.say('work', 'assistant', 'loop noted', { kind: 'note' });
    place.say('play', 'assistant', 'a loop of wool');
    place.say('play', 'user', 'what was said of the loop before', { kind: 'summary', covers_to: 1 });
    expect(found('loop').sort()).toEqual(['play 1', 'play 2', 'work 1']);
    expect(search('loop', { session: 'play', limit: 1 })).toMatchObject({
      total: 2,
      complete: true,
      hits: [{ session: 'play' }],
    });
    expect(() => search('loop', { session: 'nope' })).toThrow(expect.objectContaining({ code: 'not_found' }));
    expect(search('loop', {}, 'another tenant').hits).toEqual([]);
  });

  it('names the sessions in which something was said, by words and by signs', () => {
    const work = place.find('work').id;
    const play = place.find('play').id;
    place.say('work', 'user', 'the retry loop → twice');
    place.say('work', 'user', 'a loop again');
    place.say('play', 'assistant', 'a loop of wool');
    const said = (text: string, of = tenant) => [...sessionsThatSay(createMessageSearch(place.store.sql, of), text)];
    expect(said('loop').toSorted()).toEqual([play, work].toSorted());
    expect(said('loop wool')).toEqual([play]);
    expect(said('→')).toEqual([work]);
    expect(said('loop →')).toEqual([work]);
    expect(said('""')).toEqual([]);
    expect(said('loop', 'another tenant')).toEqual([]);
  });

  it('says where, by whom and when', () => {
    place.say('work', 'assistant', 'A  loop\nof\twool.', { run_id: 'run_1' });
    expect(search('LOOP')).toEqual({
      total: 1,
      complete: true,
      hits: [
        {
          session: 'work',
          session_id: 's1',
          seq: 1,
          id: 'm3',
          role: 'assistant',
          kind: 'message',
          run_id: 'run_1',
          created_at: '2026-01-02T03:04:05.003Z',
          snippet: 'A loop of wool.',
          matches: [{ start: 2, end: 6 }],
        },
      ],
    });
  });

  it('puts the message first in which the words weigh most', () => {
    place.say('work', 'user', `a loop ${'and much else besides '.repeat(20)}`);
    place.say('work', 'user', 'loop loop');
    for (let other = 0; other < 5; other += 1) place.say('work', 'user', 'nothing of it');
    expect(found('loop')).toEqual(['work 2', 'work 1']);
  });

  it('wants all words, in any order, and those in quotes together', () => {
    place.say('work', 'user', 'connection was refused');
    place.say('work', 'user', 'refused connection');
    place.say('work', 'user', 'connection refused');
    expect(found('refused connection').sort()).toEqual(['work 1', 'work 2', 'work 3']);
    expect(found('"connection refused"')).toEqual(['work 3']);
    expect(found('connection lost')).toEqual([]);
  });

  it('takes three letters for the beginning of a word, and marks without accents', () => {
    place.say('work', 'user', 'the migration of a café');
    expect(marked('migrat cafe\u0301')).toEqual(['the [migration] of a [café]']);
    expect(marked('cafe')).toEqual(['the migration of a [café]']);
    expect(found('mi')).toEqual([]);
    expect(found('gration')).toEqual([]);
    expect(found('"migrat"')).toEqual([]);
  });

  it('finds scripts without blanks and signs as they stand', () => {
    place.say('work', 'user', '前に名前を変えるとき, map(x => y) once');
    expect(marked('名前')).toEqual(['前に[名前]を変えるとき, map(x => y) once']);
    expect(found('=>')).toEqual(['work 1']);
    expect(found('once 名前 =>')).toEqual(['work 1']);
    expect(found('twice 名前')).toEqual([]);
    place.say('work', 'user', 'a \\\\ b');
    place.say('work', 'user', 'id', { body: { note: '名前' } });
    expect(found('\\\\')).toEqual(['work 2']);
    expect(found('名前')).toEqual(['work 1']);
    expect(found('名前', { session: 'play' })).toEqual([]);
  });

  it('finds words that are written together with small ones', () => {
    for (const text of ['한국어를 검색합니다', 'والسلام عليكم', 'שלום בעולם']) place.say('work', 'user', text);
    expect(marked('한국어')).toEqual(['[한국어]를 검색합니다']);
    expect(marked('السلام')).toEqual(['و[السلام] عليكم']);
    expect(marked('עולם')).toEqual(['שלום ב[עולם]']);
  });

  it('finds names of code by their parts and whole', () => {
    place.say('work', 'user', 'call local_fs.read_file("a-b.txt")');
    for (const text of ['read_file', 'local_fs.read_file', 'a-b.txt', 'txt', 'local_fs.read_file(']) {
      expect(found(text)).toEqual(['work 1']);
    }
  });

  it.each(['text: a', 'a OR b', 'NEAR(a b)', 'a*', '^a', '-a', 'a"b', '{x}', "'; DROP TABLE messages; --", '\0a'])(
    'reads %j as words and nothing else',
    (text) => {
      place.say('work', 'user', 'zzz');
      expect(found(text)).toEqual([]);
    },
  );

  it.each(['', '   ', '""', 'x'.repeat(1001)])('refuses %j', (text) => {
    expect(() => search(text)).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it('shows a bounded passage, however long a word is', () => {
    place.say('work', 'user', `${'x'.repeat(50_000)} loop ${'😀'.repeat(50_000)}`);
    const [hit] = search('loop').hits;
    expect(hit?.snippet).toHaveLength(80 + 1 + 4 + 80 + 1);
    expect(hit?.snippet.slice(hit.matches[0]?.start, hit.matches[0]?.end)).toBe('loop');
  });

  it('names a message that forks copied once, where it was said', () => {
    place.say('work', 'user', 'a loop', { body: { id: 'same' } });
    place.say('play', 'user', 'a loop', { body: { id: 'same' } });
    expect(search('loop')).toMatchObject({ total: 1, hits: [{ session: 'work' }] });
    expect(found('loop', { session: 'play' })).toEqual(['play 1']);
  });
});
