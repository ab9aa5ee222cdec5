import { posix } from 'node:path';
import type { Preview } from '../../schema/ask.ts';
import { cancelled, fail, isFailure, type ToolFailure } from '../failure.ts';
import type { ForeseenFile, Prepared, ReadMark, ReadMarks, ToolContext, ToolResult, ToolSite } from '../tool.ts';
import { commitFile, newFileMode, type Preimage, readPreimage, sha256Of } from './commit.ts';
import { diffOf } from './diff.ts';
import { type Replacement, replaceText } from './edit.ts';
import { writeTooLarge } from './limits.ts';
import { markFault, markWritten, writtenMark } from './marks.ts';
import { kindFault, notFound } from './open.ts';
import { binaryFile, faultOf, ready, type Subject, subjectOf } from './subject.ts';
import { decodeText, encodeText } from './text.ts';

/** A change as it will be written: what a card shows and what is written come from these bytes. */
export type ChangeFacts = Subject & {
  readonly before: Preimage;
  readonly after: Buffer;
  /** Null when the whole file is given. */
  readonly replacements: number | null;
  /** Calls that have not run yet which `before` has in it: then it is what the file is expected to be. */
  readonly follows: ForeseenFile['follows'] | null;
};

export type WriteDeps = {
  /** Looked at before the gate too, so that nobody is asked about a change that cannot be made (05 §2.3). */
  readonly marks: Pick<ReadMarks, 'get'>;
};

/** What a change makes of the present state of a file: the new bytes, or why there are none. */
export type MakeChange = (
  before: Preimage,
  mark: ReadMark | null,
  subject: Subject,
) => { readonly ok: true; readonly after: Buffer; readonly replacements: number | null } | ToolFailure;

/**
 * Reads the present state once and makes the change from it; a link is followed to what will be replaced. Where calls of
 * the same message come first, it is made from what they will leave.
 */
export async function planChange(
  deps: WriteDeps,
  given: string,
  site: ToolSite,
  make: MakeChange,
): Promise<Prepared<ChangeFacts>> {
  const subject = subjectOf(given, site);
  if (isFailure(subject)) return subject;
  const { path } = subject;
  const foreseen = site.foreseen?.get(path.real);
  const follows = foreseen?.follows ?? null;
  const unchanged = (fault: ToolFailure, before: Preimage = null): Prepared<ChangeFacts> =>
    ready({ ...subject, fault, before, after: Buffer.alloc(0), replacements: null, follows }, site, given);
  const wrongKind = path.stat !== null ? kindFault(path) : given.endsWith('/') ? namesDirectory(given) : null;
  if (wrongKind !== null) return unchanged(wrongKind);
  const before = foreseen?.state ?? (await readPreimage(path));
  if (isFailure(before)) return unchanged(before);
  const mark = foreseen === undefined ? deps.marks.get(site.scope, path.real) : foreseen.mark;
  const made = make(before, mark, subject);
  if (!made.ok) return unchanged(made, before);
  const large = sizeFault(subject, made.after.length);
  if (large !== null) return unchanged(large, before);
  const facts = { ...subject, before, after: made.after, replacements: made.replacements, follows };
  const prepared = ready(facts, site, given);
  if (!prepared.ok || before?.bytes.equals(made.after) === true) return prepared;
  return { ...prepared, leaves: () => ({ path: path.real, file: leftBy(facts, mark) }) };
}

/** The file behind the change, as `commitFile` and the marks will have it. */
function leftBy({ before, after: bytes, replacements, follows }: ChangeFacts, mark: ReadMark | null): ForeseenFile {
  const sha256 = sha256Of(bytes);
  return {
    state: { mode: newFileMode(), uid: 0, gid: 0, ...before, links: 1, bytes, sha256 },
    mark: writtenMark(mark, { sha256, whole: replacements === null }),
    follows: { calls: (follows?.calls ?? 0) + 1, base: follows === null ? (before?.sha256 ?? null) : follows.base },
  };
}

const namesDirectory = (given: string): ToolFailure =>
  fail('is_directory', `"${given}" ends in "/", so it names a directory. Give the path of a file.`);

/** Literal replacement in a file that must be text and must have been read. */
export const replaceIn =
  (change: Replacement): MakeChange =>
  (before, mark, subject) => {
    const { path } = subject;
    if (before === null) return notFound(path);
    const unread = markFault(mark, before.sha256, path.given, 'any');
    if (unread !== null && mark !== null) return unread;
    const large = sizeFault(subject, before.bytes.length);
    if (large !== null) return large;
    const old = decodeText(before.bytes);
    // Nobody can read it first.
    if (old.kind === 'binary') return binaryFile(path.given, before.bytes.length, old.media);
    if (unread !== null) return unread;
    if (!old.editable) {
      return fail('not_utf8', `"${path.given}" is not UTF-8 text, so it can be read but not edited in place.`);
    }
    const wanted = old.form.crlf ? shownAs(change) : change;
    const edited = replaceText(old.text, wanted, path.given, subject.limits._max_write_bytes);
    if (!edited.ok) return edited;
    return { ok: true, after: encodeText(edited.text, old.form), replacements: edited.replacements };
  };

/** Of a file of CRLF only LF is shown: a CRLF in the texts of a change means the same line end (05 §4.4). */
const shownAs = (change: Replacement): Replacement => ({
  ...change,
  find: change.find.replaceAll('\r\n', '\n'),
  put: change.put.replaceAll('\r\n', '\n'),
});

function sizeFault({ path, limits }: Subject, size: number): ToolFailure | null {
  const max = limits._max_write_bytes;
  return size <= max ? null : writeTooLarge(path.given, size, max);
}

/**
 * Writes what was judged, under the lock of its file, unless the file is another one by now. On abort nothing is written
 * that had not begun.
 */
export async function writeChange(context: ToolContext<ChangeFacts>): Promise<ToolResult> {
  const { path, before, after, replacements } = context.facts;
  const hopeless = faultOf(context);
  if (hopeless !== null) return hopeless;
  const { marks, lockPath } = context.ports;
  const release = await lockPath(path.real, context.signal);
  if (context.signal.aborted) {
    release?.();
    return cancelled();
  }
  if (release === null) return fail('busy', `Another call has been writing "${path.given}" for 10 s. Try again later.`);
  try {
    const result = (committed: boolean, notes: Readonly<Record<string, unknown>>): ToolResult => ({
      ok: true,
      value: {
        path: path.given,
        changed: committed,
        created: committed && before === null,
        old_bytes: before?.bytes.length ?? null,
        new_bytes: after.length,
        old_sha256: before?.sha256 ?? null,
        new_sha256: sha256,
        ...(replacements === null ? {} : { replacements }),
        ...notes,
      },
    });
    const sha256 = sha256Of(after);
    if (before?.sha256 === sha256) return result(false, {});
    // Two calls of one batch may have been prepared for the same state of the file.
    const mark = marks.get(context.scope, path.real);
    if (before !== null && before.bytes.length > 0) {
      const fault = markFault(mark, before.sha256, path.given, replacements === null ? 'full' : 'any');
      if (fault !== null) return fault;
    }
    const change = {
      call_id: context.call_id,
      path: path.real,
      before: before?.sha256 ?? null,
      after: sha256,
      ...(path.missing.length === 0 ? {} : { made: path.missing.length }),
    };
    const committed = await commitFile(path, before, after, () =>
      context.ports.journal.note(context.run_id, change, before?.bytes ?? null),
    );
    if (!committed.ok) return committed;
    markWritten(marks, context.scope, path.real, { sha256, whole: replacements === null });
    return result(true, committed.notes);
  } finally {
    release();
  }
}

/** The card of a change (05 §4.7). */
export async function previewChange({ path, place, before, after, fault, follows }: ChangeFacts): Promise<Preview> {
  const name = path.outside_root ? path.real : posix.relative(place.root, path.real);
  return {
    ...(fault === null
      ? await diffOf(name, before, after)
      : { diff_note: `nothing would be written: ${fault.message}` }),
    new_file: before === null,
    ...(follows === null ? {} : { follows }),
    preimage: { path: path.real, sha256: before?.sha256 ?? null },
  };
}
