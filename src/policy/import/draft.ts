import type { Action } from '../../schema/policy.ts';
import type { ImportLine, WrittenRule } from '../../schema/policy-views.ts';

/** One file of settings, and whose it is. */
export type SourceFile = {
  readonly path: string;
  readonly text: string;
  readonly level: ImportLine['level'];
};

/** Directories that patterns of a source are anchored at. */
export type SourcePlace = { readonly home: string; readonly workspace: string };

/** A rule that waits for its place; `last` stands behind all others of its import. */
export type DraftRule = WrittenRule & { readonly last?: true };

/** One rule or setting of the source, and what it became. */
export type Draft = {
  readonly path: string;
  readonly line: number;
  readonly level: ImportLine['level'];
  readonly text: string;
  readonly outcome: ImportLine['outcome'];
  readonly why: string;
  readonly rules: readonly DraftRule[];
  /** Beginning of command lines that the source refuses or asks about, and a list of words cannot cover. */
  readonly shadow?: string;
};

/** What an importer makes of its files; what it could not read at all is in `unread`. */
export type Imported = {
  readonly drafts: readonly Draft[];
  readonly default_action: 'approve' | 'deny';
  readonly dirs: readonly string[];
  /** Cases for a test file: lines that the source names as matching. */
  readonly cases: readonly { readonly command: string; readonly action: Action }[];
  readonly unread: readonly { readonly path: string; readonly message: string }[];
};

/** What one rule of a source becomes. */
export type Outcome = Pick<Draft, 'outcome' | 'why' | 'rules' | 'shadow'>;

export const exactly = (rules: readonly DraftRule[], why = ''): Outcome => ({ outcome: 'exact', why, rules });
export const narrowed = (why: string, rules: readonly DraftRule[]): Outcome => ({ outcome: 'narrowed', why, rules });
export const dropped = (why: string): Outcome => ({ outcome: 'dropped', why, rules: [] });
export const inert = (why: string): Outcome => ({ outcome: 'inert', why, rules: [] });

export const readers: readonly string[] =
  'read_file read_file_range list_dir find_files grep stat_file count_stats'.split(' ');
export const writers: readonly string[] = ['write_file', 'edit_file', 'sed'];

/** One rule for each tool of `local_fs`. */
export const onFiles = (
  action: Action,
  tools: readonly string[],
  when?: NonNullable<WrittenRule['when']>,
): readonly DraftRule[] =>
  tools.map((tool) => ({ tools: 'local_fs', tool, ...(when === undefined ? {} : { when }), action }));

export const onShell = (action: Action, when?: NonNullable<WrittenRule['when']>): DraftRule => ({
  tools: 'local_shell',
  ...(when === undefined ? {} : { when }),
  action,
});

/** For a rule that cannot be expressed: an allow is dropped, anything stricter asks about the whole tool. */
export const inexact = (action: Action, why: string, asking: readonly DraftRule[]): Outcome =>
  action === 'allow' ? dropped(why) : narrowed(`${why}: every call of the tool asks`, asking);

/** Line of a text, from 1, in which an offset lies. */
export const lineAt = (text: string, offset: number): number => text.slice(0, Math.max(0, offset)).split('\n').length;
