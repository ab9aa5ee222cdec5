import { putSetting } from './settings.ts';
import type { Sql } from './sql.ts';

/** A text that came into a file by a call, and nobody was asked about: it is given to no model. */
export type WithheldText = {
  readonly sha256: string;
  /** The call, for people; foreign words may be in it. Null for one that never told how it ended. */
  readonly by: string | null;
  readonly at: number;
};

/** What is known of the texts that a file with instructions has had. */
export type InstructionFile = {
  /** Hashes of texts that people had put there, or were asked about; the latest last. */
  readonly known: readonly string[];
  readonly withheld: readonly WithheldText[];
  /** Of the text that was seen last; null = there was none. */
  readonly last: string | null;
};

/** A call that runs, or never told how it ended: who drives it, and the texts that it found, by path. */
export type OpenCall = {
  readonly key: string;
  readonly owner: string;
  readonly found: Readonly<Record<string, string | null>>;
};

const filePrefix = 'instructions.file.';
const callPrefix = 'instructions.call.';

/** Files with instructions for agents, and the calls that may be changing them. Writes belong in the caller's transaction. */
export function createInstructionFiles(sql: Sql, tenant: string) {
  const remove = (key: string): void => void sql.run('DELETE FROM kv WHERE tenant_id = ? AND key = ?', tenant, key);
  return {
    /** Null for a file that no call has been near. */
    file(path: string): InstructionFile | null {
      const row = sql.get<{ value: string }>(
        'SELECT value FROM kv WHERE tenant_id = ? AND key = ?',
        tenant,
        filePrefix + path,
      );
      // Only `putFile` writes there.
      return row === undefined ? null : (JSON.parse(row.value) as InstructionFile);
    },

    putFile: (path: string, file: InstructionFile, now: number): void =>
      putSetting(sql, tenant, filePrefix + path, JSON.stringify(file), now),

    openCalls: (): readonly OpenCall[] =>
      sql
        .all<{ key: string; value: string }>(
          'SELECT key, value FROM kv WHERE tenant_id = ? AND key >= ? AND key < ?',
          tenant,
          callPrefix,
          `${callPrefix}\u{10ffff}`,
        )
        // Only `openCall` writes there.
        .map(({ key, value }) => ({
          ...(JSON.parse(value) as Omit<OpenCall, 'key'>),
          key: key.slice(callPrefix.length),
        })),

    openCall: ({ key, ...call }: OpenCall, now: number): void =>
      putSetting(sql, tenant, callPrefix + key, JSON.stringify(call), now),

    closeCall: (key: string): void => remove(callPrefix + key),
  };
}

export type InstructionFiles = ReturnType<typeof createInstructionFiles>;
