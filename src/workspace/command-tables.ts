import { join } from 'node:path';
import type { CommandTables } from '../schema/command-tables.ts';
import { readDocument } from './files.ts';

/** The operator's own option tables, and what is to be said about their file. */
export type OwnTables = { readonly tables: CommandTables | undefined; readonly warnings: readonly string[] };

/**
 * Reads `command-tables.json` of the user directory (02 §9.7), never one of a project. A file that cannot be used is
 * ignored with a warning: the shipped tables stay. Never rejects.
 * @param uid the current user; null skips the checks of owner and mode
 */
export async function readCommandTables(userDirectory: string, uid: number | null): Promise<OwnTables> {
  const path = join(userDirectory, 'command-tables.json');
  const file = readDocument(path, 'user', uid);
  if (!file.ok) return file.fault === 'missing' ? { tables: undefined, warnings: [] } : ignored(path, file.message);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(file.bytes);
  } catch {
    return ignored(path, 'it is not UTF-8');
  }
  // Few operators have such a file.
  const { parseCommandTables } = await import('../policy/read-tables.ts');
  const read = await parseCommandTables(text);
  return read.ok ? { tables: read.tables, warnings: file.warnings } : ignored(path, read.message);
}

const ignored = (path: string, why: string): OwnTables => ({
  tables: undefined,
  warnings: [`${path} is ignored, the shipped option tables hold: ${why}`],
});
