import { closeSync } from 'node:fs';
import { string } from 'superstruct';
import { fail, ioFailure, isFailure, type ToolFailure } from '../failure.ts';
import { bytes } from '../input-schema.ts';
import { isSpoolName } from '../spool.ts';
import type { Prepared, ToolContext, ToolResult, ToolSite } from '../tool.ts';
import { type FileLimits, fileLimits } from './limits.ts';
import { kindFault, maxStreamBytes, notFound, openChecked, openRegular } from './open.ts';
import { type PathFacts, type Place, placeOf, resolvePath } from './root.ts';

export const pathText = () => bytes(string(), 1, 4096);
export const outputPathNote = {
  description: 'Path of the file, relative to the root or absolute; or the name of an earlier result, @output/….',
  minLength: 1,
};

/** The facts of a call about one path. */
export type Subject = {
  readonly kind: 'path';
  readonly path: PathFacts;
  readonly place: Place;
  readonly limits: FileLimits;
  /** What is wrong with the target; told only when the policy does not deny the call. */
  readonly fault: ToolFailure | null;
};

/** `@output/…`: a result of this run or session; a read of no file (05 §2.5.3). */
export type SpoolSubject = { readonly kind: 'spool'; readonly name: string; readonly limits: FileLimits };

/** @returns a refusal for what no policy can permit: a bad path, a chain's limit, a root that confines. */
export function subjectOf(given: string, site: ToolSite, follow = true): Subject | ToolFailure {
  const limits = fileLimits(site.limits);
  if (isFailure(limits)) return limits;
  const place = placeOf(site);
  if (isFailure(place)) return place;
  const path = resolvePath(given, place, site, follow);
  return isFailure(path) ? path : { kind: 'path', path, place, limits, fault: null };
}

/** The call of a tool that reads one file or an earlier result. */
export function prepareReading(given: string, site: ToolSite): Prepared<Subject | SpoolSubject> {
  const subject = readSubjectOf(given, site);
  return isFailure(subject) ? subject : ready(subject, site, given);
}

export function readSubjectOf(given: string, site: ToolSite): Subject | SpoolSubject | ToolFailure {
  if (!isSpoolName(given)) return fileSubjectOf(given, site);
  const limits = fileLimits(site.limits);
  return isFailure(limits) ? limits : { kind: 'spool', name: given, limits };
}

/** The same for a path that must be a regular file. */
export function fileSubjectOf(given: string, site: ToolSite): Subject | ToolFailure {
  const subject = subjectOf(given, site);
  return isFailure(subject) ? subject : { ...subject, fault: kindFault(subject.path) };
}

/**
 * The fault of a call that is not denied; names that resemble a missing one are told as far as the policy tells them.
 * @param mayName whether a file of the same directory may be named
 */
export function unfit(facts: Subject | SpoolSubject, mayName?: (path: string) => boolean): ToolFailure | null {
  if (facts.kind !== 'path') return null;
  const { fault, path } = facts;
  return fault?.error === 'not_found' && mayName !== undefined ? notFound(path, mayName) : fault;
}

/** The same for a call that runs. */
export const faultOf = ({ facts, judge }: ToolContext<Subject | SpoolSubject>): ToolFailure | null =>
  unfit(facts, (path) => judge('local_fs', 'read_file', { path }) !== 'deny');

/** A call that can go to the gate. The card's line is the path as given. */
export const ready = <F extends Subject | SpoolSubject>(facts: F, site: ToolSite, given: string): Prepared<F> => ({
  ok: true,
  facts,
  ...(facts.kind === 'path' ? { looked: facts.path } : {}),
  cwd: facts.kind === 'path' ? facts.place.root : site.root,
  summary: summaryLine(given),
});

/**
 * One line of at most 120 characters, control characters visible (03 §1.1). A backslash that would begin such an escape
 * is written as one itself: `\u202e` as it was typed stays apart from the character.
 */
export function summaryLine(text: string): string {
  // What joins two pictures is part of them.
  const visible = text.replace(
    /\\(?=u[0-9a-f]{4})|(?!(?<=\p{Extended_Pictographic}|\ufe0f|\p{Emoji_Modifier})\u200d\p{Extended_Pictographic})[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const line = visible.length > 120 ? `${visible.slice(0, 119)}…` : visible;
  return line === '' ? '(empty)' : line.toWellFormed();
}

type Opened = { readonly fd: number; readonly size: number };

/** Opens what was judged. A spool name is looked up for this run and its session only. */
export function openSubject(context: ToolContext<Subject | SpoolSubject>): Opened | ToolFailure {
  const { facts } = context;
  if (facts.kind === 'path') return faultOf(context) ?? openChecked(facts.path);
  const path = context.ports.spool.resolve(context.scope, context.run_id, facts.name);
  if (path === null) return fail('not_found', `"${facts.name}" is no result of this run or session.`, { similar: [] });
  return openRegular(path, facts.name, null);
}

/**
 * Reads what was judged, and closes it again.
 * @param given the path as it was given, for the message when the system refuses something
 */
export async function readOpened<F extends Subject | SpoolSubject>(
  given: string,
  context: ToolContext<F>,
  read: (opened: Opened) => Promise<ToolResult>,
): Promise<ToolResult> {
  const opened = openSubject(context);
  if (isFailure(opened)) return opened;
  try {
    return await read(opened);
  } catch (error) {
    return ioFailure(error, `"${given}"`);
  } finally {
    closeSync(opened.fd);
  }
}

export const streamTooLarge = (given: string, size: number): ToolFailure =>
  fail('too_large', `"${given}" has ${size} bytes; files above ${maxStreamBytes} bytes are not read.`, {
    bytes: size,
    max_bytes: maxStreamBytes,
  });

export const binaryFile = (given: string, size: number, media: string): ToolFailure =>
  fail('binary_file', `"${given}" is not text: ${media}, ${size} bytes.`, { bytes: size, media_type: media });
