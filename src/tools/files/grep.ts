import { closeSync, lstatSync } from 'node:fs';
import { boolean, integer, object, optional, refine, string } from 'superstruct';
import { createLineFinder, type LineFinder, type LineSearch } from '../../text/line-search.ts';
import { RegexSyntaxError } from '../../text/linear-regex.ts';
import { cancelled, fail, ioFailure, isFailure, type ToolFailure } from '../failure.ts';
import { between, bytes, inputSchema } from '../input-schema.ts';
import { defineTool, type Prepared, type Tool, type ToolContext, type ToolResult, type ToolSite } from '../tool.ts';
import { isSpoolName } from '../spool.ts';
import { compileGlob, type Glob } from './glob.ts';
import { createHits, type Hits } from './hits.ts';
import { createFindInLine, type FindInLine, lateFinding } from './long-lines.ts';
import { notFound, openRegular, readWhole } from './open.ts';
import type { Identity } from './root.ts';
import { createScope, walkNotes, walkSubject } from './search.ts';
import {
  openSubject,
  outputPathNote,
  readSubjectOf,
  ready,
  type SpoolSubject,
  type Subject,
  subjectOf,
  unfit,
} from './subject.ts';
import { decodeText, showName } from './text.ts';
import { maxDepth } from './walk.ts';

const maxFileBytes = 16 * 1024 * 1024;
const maxPatternCharacters = 8192;

type Args = {
  pattern: string;
  path?: string | undefined;
  regex?: boolean | undefined;
  ignore_case?: boolean | undefined;
  include?: string | undefined;
  context?: number | undefined;
  start_line?: number | undefined;
  end_line?: number | undefined;
  max_matches?: number | undefined;
};

type Search = { readonly lines: LineSearch; readonly finder: LineFinder; readonly include: Glob | null };
type Facts = (Subject | SpoolSubject) & { readonly search: Search };

export function createGrepTool(): Tool {
  const args = object({
    pattern: refine(string(), 'length', (value) => {
      const { length } = value;
      return (length >= 1 && length <= maxPatternCharacters) || `must have 1 to ${maxPatternCharacters} characters`;
    }),
    path: optional(bytes(string(), 1, 4096)),
    regex: optional(boolean()),
    ignore_case: optional(boolean()),
    include: optional(bytes(string(), 1, 1024)),
    context: optional(between(integer(), 0, 5)),
    start_line: optional(between(integer(), 1)),
    end_line: optional(between(integer(), 1)),
    max_matches: optional(between(integer(), 1)),
  });
  return defineTool<Args, Facts>({
    spec: {
      tools: 'local_fs',
      tool: 'grep',
      description:
        'Finds lines with a literal text, or with a regular expression (RE2 syntax), in a file or below a directory.',
      input_schema: inputSchema(args, {
        pattern: { description: 'What to find: literal text unless regex is true.', minLength: 1 },
        path: {
          ...outputPathNote,
          description: `${outputPathNote.description} A directory is searched with all below.`,
          default: '.',
        },
        regex: { description: 'Reads the pattern as a regular expression (RE2 syntax).', default: false },
        ignore_case: { description: 'Does not tell capital from small letters.', default: false },
        include: { description: 'Glob of the files to look at, for example *.ts.' },
        context: { description: 'Lines to show before and behind each match.', minimum: 0, maximum: 5, default: 0 },
        start_line: { description: 'First line to look at; for a file only.', minimum: 1 },
        end_line: { description: 'Last line to look at; for a file only.', minimum: 1 },
        max_matches: { description: 'At most this many matching lines.', minimum: 1 },
      }),
      read_only: true,
    },
    args,
    prepare,
    unfit,
    async execute(given, context) {
      const { facts } = context;
      try {
        const isDirectory = facts.kind === 'path' && facts.path.stat?.isDirectory() === true;
        return isDirectory ? await searchTree(given, pathContext(context)) : await searchFile(given, context);
      } catch (error) {
        return ioFailure(error, `"${given.path ?? '.'}"`);
      }
    },
  });
}

/** True to the type because only a path, never a spool name, is a directory. */
const pathContext = (context: ToolContext<Facts>) => context as ToolContext<Subject & { readonly search: Search }>;

async function prepare(given: Args, site: ToolSite): Promise<Prepared<Facts>> {
  const { path = '.', start_line = 1, end_line = Number.POSITIVE_INFINITY } = given;
  if (end_line < start_line) {
    return fail('invalid_arguments', '"end_line" must not be smaller than "start_line".', { path: 'end_line' });
  }
  const lines = { pattern: given.pattern, regex: given.regex === true, ignoreCase: given.ignore_case === true };
  const finder = await finderOf(lines);
  if (isFailure(finder)) return finder;
  const include = given.include === undefined ? null : compileGlob(given.include);
  if (typeof include === 'string') return fail('invalid_arguments', `"include" ${include}.`, { path: 'include' });
  const subject = isSpoolName(path) ? readSubjectOf(path, site) : subjectOf(path, site);
  if (isFailure(subject)) return subject;
  const search = { lines, finder, include };
  if (subject.kind === 'spool') return ready({ ...subject, search }, site, path);
  return ready({ ...subject, search, fault: targetFault(subject, given) }, site, path);
}

function targetFault({ path }: Subject, given: Args): ToolFailure | null {
  const { stat } = path;
  if (stat === null) return notFound(path);
  if (stat.isDirectory()) {
    const ranged = given.start_line !== undefined || given.end_line !== undefined;
    const message = '"start_line" and "end_line" are for a file; this path is a directory.';
    return ranged ? fail('invalid_arguments', message, { path: 'start_line' }) : null;
  }
  return stat.isFile() ? null : fail('not_regular', `"${path.given}" is neither a regular file nor a directory.`);
}

async function finderOf(search: LineSearch): Promise<LineFinder | ToolFailure> {
  if (!search.regex && search.pattern.includes('\n')) {
    const message = '"pattern" holds a line end, but each line is searched by itself. Give a text of one line.';
    return fail('invalid_arguments', message, { path: 'pattern' });
  }
  try {
    return await createLineFinder(search);
  } catch (error) {
    if (!(error instanceof RegexSyntaxError)) throw error;
    const reason = error.message.slice(0, 200);
    return fail('invalid_arguments', `"pattern" is not a regular expression in RE2 syntax: ${reason}.`, {
      path: 'pattern',
    });
  }
}

async function searchFile(given: Args, context: ToolContext<Facts>): Promise<ToolResult> {
  const opened = openSubject(context);
  if (isFailure(opened)) return opened;
  const hits = createHits(given, context.facts.limits);
  try {
    const find = createFindInLine(context.facts.search, context);
    const seen = await searchOpen(opened, '', given, { find, hits });
    if (seen === 'aborted') return cancelled();
    if (typeof seen === 'number') return lateFinding(given.path ?? '.', seen);
    if (seen !== 'searched') return skippedFile(seen, given.path ?? '.', opened.size);
    return { ok: true, value: hits.text(1, []) };
  } finally {
    closeSync(opened.fd);
  }
}

const skippedFile = (why: 'binary' | 'large', given: string, size: number): ToolFailure =>
  why === 'binary'
    ? fail('binary_file', `"${given}" is not text (${size} bytes), so it is not searched.`, { bytes: size })
    : fail('too_large', `"${given}" has ${size} bytes; files above ${maxFileBytes} bytes are not searched.`, {
        bytes: size,
        max_bytes: maxFileBytes,
      });

async function searchTree(
  given: Args,
  context: ToolContext<Subject & { readonly search: Search }>,
): Promise<ToolResult> {
  const { search, limits } = context.facts;
  const scope = createScope(context, 'grep', { ...given });
  const hits = createHits(given, limits);
  const find = createFindInLine(search, context);
  let late: ToolFailure | null = null;
  const count = { files: 0, binary: 0, large: 0, unreadable: 0 };
  const walked = await walkSubject(context, given.path ?? '.', maxDepth, async (entry) => {
    if (entry.kind !== 'file' || search.include?.matches(entry.path) === false) return undefined;
    const seen = identityAt(entry.at);
    if (seen !== null && !scope.mayShow(entry, seen)) return undefined;
    const opened = seen === null ? null : openRegular(entry.at, entry.path, seen);
    if (opened === null || isFailure(opened)) {
      count.unreadable += 1;
      return undefined;
    }
    try {
      const name = showName(entry.path);
      const seen = await searchOpen(opened, `${name}:`, given, { find, hits });
      if (typeof seen === 'number') late = lateFinding(name, seen);
      if (seen === 'binary') count.binary += 1;
      if (seen === 'large') count.large += 1;
      if (seen === 'searched') count.files += 1;
      return hits.full() || seen === 'aborted' || late !== null ? 'stop' : undefined;
    } finally {
      closeSync(opened.fd);
    }
  });
  if ('ok' in walked) return walked;
  if (context.signal.aborted) return cancelled();
  if (late !== null) return late;
  const skipped = [
    ...(count.binary > 0 ? [`${count.binary} binary files`] : []),
    ...(count.large > 0 ? [`${count.large} files above 16 MiB`] : []),
    ...(count.unreadable > 0 ? [`${count.unreadable} unreadable files`] : []),
  ];
  const notes = [...walkNotes(walked), ...scope.notes()];
  if (skipped.length > 0) notes.push(`[skipped: ${skipped.join(', ')}]`);
  return { ok: true, value: hits.text(count.files, notes) };
}

/** What a name stands for now, and what is judged and opened under it; null when it is gone. */
function identityAt(path: string): Identity | null {
  try {
    const { dev, ino } = lstatSync(path, { bigint: true });
    return { dev, ino };
  } catch {
    return null;
  }
}

type Opened = { readonly fd: number; readonly size: number };
type Searching = { readonly find: FindInLine; readonly hits: Hits };

/** @returns the number of the line that took too long, or how it ended */
async function searchOpen(
  { fd, size }: Opened,
  prefix: string,
  { start_line = 1, end_line = Number.POSITIVE_INFINITY }: Args,
  { find, hits }: Searching,
): Promise<'searched' | 'binary' | 'large' | 'aborted' | number> {
  const content = await readWhole(fd, size, maxFileBytes);
  if (content === null) return 'large';
  const decoded = decodeText(content);
  if (decoded.kind === 'binary') return 'binary';
  const { text } = decoded;
  hits.open(prefix);
  for (let at = 0, line = 1; at < text.length && line <= end_line; line += 1) {
    const feed = text.indexOf('\n', at);
    const end = feed < 0 ? text.length : feed;
    if (line >= start_line) {
      const here = text.slice(at, end);
      const found = find(here);
      const place = typeof found === 'object' ? await found : found;
      if (place === 'aborted') return place;
      if (place === 'late') return line;
      if (!hits.line(line, here, place)) break;
    }
    at = end + 1;
  }
  return 'searched';
}
