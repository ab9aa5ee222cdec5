import type { Migration } from './migration.ts';

/**
 * What is found in a message: what people, models and summaries said. Results of tools and notes are left out, as
 * `session show` leaves them out; a row that cannot be read has no text.
 */
const textOf = (row: string): string => `CASE
    WHEN ${row}.role NOT IN ('user', 'assistant', 'system') OR ${row}.kind = 'note' THEN ''
    WHEN NOT json_valid(${row}.payload) THEN ''
    WHEN json_type(${row}.payload, '$.content') = 'text' THEN json_extract(${row}.payload, '$.content')
    ELSE '' END`;

/** The id in the payload, which a copy in a fork shares with the message it was made of. */
const saidAs = (row: string): string =>
  `CASE WHEN json_valid(${row}.payload) THEN json_extract(${row}.payload, '$.id') END`;

const add = `INSERT INTO message_texts (message_id, session_id, said)
    SELECT NEW.id, NEW.session_id, ${saidAs('NEW')} WHERE (${textOf('NEW')}) <> '';
  INSERT INTO message_search (rowid, text)
    SELECT number, ${textOf('NEW')} FROM message_texts WHERE message_id = NEW.id;`;
const remove = `INSERT INTO message_search (message_search, rowid, text)
    SELECT 'delete', number, ${textOf('OLD')} FROM message_texts WHERE message_id = OLD.id;
  DELETE FROM message_texts WHERE message_id = OLD.id;`;

/**
 * Schema 2: the full-text index of messages. It holds words and where they stand, not the texts: those are read from the
 * payloads through a view. `message_texts` numbers them, because the hidden row numbers of `messages` need not survive a
 * VACUUM. Triggers keep all of it in the transaction of the message, whoever writes it.
 */
export const messageSearch: Migration = {
  version: 2,
  statements: [
    `CREATE TABLE message_texts (
  number INTEGER PRIMARY KEY NOT NULL,
  message_id TEXT NOT NULL UNIQUE,
  session_id TEXT NOT NULL,
  said TEXT
) STRICT`,
    `CREATE VIEW searchable_messages AS SELECT t.number AS number, ${textOf('m')} AS text
  FROM message_texts t JOIN messages m ON m.id = t.message_id`,
    `CREATE VIRTUAL TABLE message_search USING fts5(text, content='searchable_messages', content_rowid='number',
  tokenize='unicode61 remove_diacritics 2')`,
    // Numbers grow with time: the newest are looked at first.
    `INSERT INTO message_texts (message_id, session_id, said)
  SELECT m.id, m.session_id, ${saidAs('m')} FROM messages m WHERE (${textOf('m')}) <> '' ORDER BY m.created_at, m.session_id, m.seq`,
    `INSERT INTO message_search (message_search) VALUES ('rebuild')`,
    `CREATE TRIGGER messages_searchable_insert AFTER INSERT ON messages BEGIN
  ${add}
END`,
    `CREATE TRIGGER messages_searchable_update AFTER UPDATE OF id, role, kind, payload ON messages BEGIN
  ${remove}
  ${add}
END`,
    `CREATE TRIGGER messages_searchable_delete AFTER DELETE ON messages BEGIN
  ${remove}
END`,
  ],
  digest: '5c21f1613452212ae92a2ae92e8ae6e353294b7acd9b7c937e069a03fc12b82d',
};
