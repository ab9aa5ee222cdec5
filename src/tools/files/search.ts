import { accessSync, constants } from 'node:fs';
import { boolean, integer, object, optional, string } from 'superstruct';
import { cancelled, fail, ioFailure, isFailure, type ToolFailure } from '../failure.ts';
import { between, bytes, inputSchema } from '../input-schema.ts';
import { defineTool, type Tool, type ToolContext, type ToolSite } from '../tool.ts';
import { compileGlob, type Glob } from './glob.ts';
import { notFound, openAnchor } from './open.ts';
import { deniedSubstring, type Identity } from './root.ts';
import { faultOf, pathText, ready, type Subject, subjectOf, unfit } from './subject.ts';
import { showName } from './text.ts';
import { type Entry, maxDepth, walk, type Walked } from './walk.ts';

const maxEntries = 2000;
/** Entries beyond those listed are counted up to here. */
const maxCounted = 200_000;
/** Room for the closing lines. */
const noticeBytes = 300;
const defaultResults = 200;
const maxResults = 2000;

const directoryNote = { description: 'Directory, relative to the root or absolute.', default: '.' };

export function createSearchTools(): readonly Tool[] {
  return [listDir(), findFiles()];
}

type ListArgs = { path?: string | undefined; recursive?: boolean | undefined; max_depth?: number | undefined };

function listDir(): Tool {
  const args = object({
    path: optional(pathText()),
    recursive: optional(boolean()),
    max_depth: optional(between(integer(), 1, 32)),
  });
  return defineTool<ListArgs, Subject>({
    spec: {
      tools: 'local_fs',
      tool: 'list_dir',
      description:
        'Lists a directory, one name a line; directories end in /, links in @. Recursion names .git, node_modules and the like but does not enter them.',
      input_schema: inputSchema(args, {
        path: directoryNote,
        recursive: { description: 'Lists what is below as well.', default: false },
        max_depth: { description: 'Levels of a recursive listing.', minimum: 1, maximum: 32, default: 3 },
      }),
      read_only: true,
    },
    args,
    prepare: ({ path = '.' }, site) => directorySubject(path, site),
    unfit,
    async execute(args, context) {
      const { path = '.', recursive = false, max_depth = 3 } = args;
      const allowed = context.facts.limits._max_list_depth;
      const depth = recursive ? Math.min(max_depth, allowed) : 1;
      const page = createPage(context.facts, maxEntries);
      const { lines } = page;
      let more = 0;
      const scope = createScope(context, 'list_dir', { ...args });
      const walked = await walkSubject(context, path, depth, (entry) => {
        if (more === 0 && (!scope.mayName(entry) || page.put(showEntry(entry)))) return undefined;
        more += 1;
        return more >= maxCounted ? 'stop' : undefined;
      });
      if ('ok' in walked) return walked;
      if (more > 0) lines.push(`[${walked.kind === 'stopped' ? 'at least ' : ''}${more} more entries]`);
      if (recursive && max_depth > allowed) {
        lines.push(`[depth lowered from ${max_depth} to ${allowed} by _max_list_depth]`);
      }
      lines.push(...scope.notes(), ...walkNotes(walked));
      return { ok: true, value: lines.length === 0 ? '[empty directory]' : lines.join('\n') };
    },
  });
}

const showEntry = ({ path, kind }: Entry): string =>
  showName(path) + (kind === 'directory' ? '/' : kind === 'link' ? '@' : '');

type FindArgs = { pattern: string; path?: string | undefined; max_results?: number | undefined };

function findFiles(): Tool {
  const args = object({
    pattern: bytes(string(), 1, 1024),
    path: optional(pathText()),
    max_results: optional(between(integer(), 1, maxResults)),
  });
  return defineTool<FindArgs, Subject & { readonly glob: Glob }>({
    spec: {
      tools: 'local_fs',
      tool: 'find_files',
      description:
        'Finds files by a glob (* ? [..] {a,b} **). A pattern without / is matched against names, one with / against the path relative to the directory.',
      input_schema: inputSchema(args, {
        pattern: { description: 'The glob, for example *.ts or src/**/*.test.ts.', minLength: 1 },
        path: directoryNote,
        max_results: {
          description: 'At most this many paths.',
          minimum: 1,
          maximum: maxResults,
          default: defaultResults,
        },
      }),
      read_only: true,
    },
    args,
    prepare({ pattern, path = '.' }, site) {
      const glob = compileGlob(pattern);
      if (typeof glob === 'string') return fail('invalid_arguments', `"pattern" ${glob}.`, { path: 'pattern' });
      const prepared = directorySubject(path, site);
      return prepared.ok ? { ...prepared, facts: { ...prepared.facts, glob } } : prepared;
    },
    unfit,
    async execute(args, context) {
      const { path = '.', max_results = defaultResults } = args;
      const page = createPage(context.facts, max_results);
      const { lines } = page;
      const scope = createScope(context, 'find_files', { ...args });
      const walked = await walkSubject(context, path, maxDepth, (entry) => {
        if (entry.kind === 'directory' || !context.facts.glob.matches(entry.path) || !scope.mayName(entry))
          return undefined;
        return page.put(showName(entry.path)) ? undefined : 'stop';
      });
      if ('ok' in walked) return walked;
      const found = lines.length;
      if (walked.kind === 'stopped') {
        const mend =
          found === max_results && max_results < maxResults ? 'raise max_results' : 'give a directory as path';
        lines.push(`[more than ${found} files; narrow the pattern or ${mend}]`);
      } else if (found === 0) lines.push('[no files match]');
      lines.push(...scope.notes(), ...walkNotes(walked));
      return { ok: true, value: lines.join('\n') };
    },
  });
}

/** Lines up to a number and up to `_max_output_bytes`. */
function createPage({ limits }: Subject, most: number) {
  const lines: string[] = [];
  let room = limits._max_output_bytes - noticeBytes;
  return {
    lines,
    /** @returns false when the line has no place any more. */
    put(line: string): boolean {
      room -= Buffer.byteLength(line) + 1;
      if (lines.length >= most || room < 0) return false;
      lines.push(line);
      return true;
    },
  };
}

function directorySubject(path: string, site: ToolSite) {
  const subject = subjectOf(path, site);
  if (isFailure(subject)) return subject;
  const { stat } = subject.path;
  const fault =
    stat === null
      ? notFound(subject.path)
      : stat.isDirectory()
        ? null
        : fail('not_regular', `"${path}" is not a directory. Use read_file or stat_file for it.`);
  return ready<Subject>({ ...subject, fault }, site, path);
}

/** Walks the directory that was judged, held open from the moment at which it proved to be the same. */
export async function walkSubject(
  context: ToolContext<Subject>,
  given: string,
  depth: number,
  visit: (entry: Entry) => Promise<'stop' | undefined> | 'stop' | undefined,
): Promise<Walked | ToolFailure> {
  const fault = faultOf(context);
  if (fault !== null) return fault;
  const { path } = context.facts;
  if (path.stat === null) return notFound(path);
  const anchor = openAnchor(path.real, path.stat, given);
  if (isFailure(anchor)) return anchor;
  try {
    // One that cannot be looked into at all is no empty one.
    accessSync(anchor.base, constants.R_OK);
    const walked = await walk(anchor.base, { depth, signal: context.signal, visit });
    return walked.kind === 'aborted' ? cancelled() : walked;
  } catch (error) {
    return ioFailure(error, `"${given}"`);
  } finally {
    anchor.close();
  }
}

/**
 * What a search may tell of each file (05 §4.8). Names: not where the same tool, or reading, is denied. Content: also
 * not where the same tool would need more than this call has, so that a search which is allowed without an ask shows
 * nothing that asks.
 */
export function createScope(context: ToolContext<Subject>, tool: string, args: Readonly<Record<string, unknown>>) {
  const { path, place } = context.facts;
  let left = 0;
  let limited = 0;
  let granted: number | null = null;
  const rank = { allow: 0, approve: 1, deny: 2 };

  const passesLimits = (entry: Entry, real: string): boolean => {
    if (deniedSubstring(entry.path, real, place, context) === null) return true;
    limited += 1;
    return false;
  };
  const passes = (permitted: boolean): boolean => {
    if (!permitted) left += 1;
    return permitted;
  };
  const realOf = (entry: Entry): string => `${path.real === '/' ? '' : path.real}/${entry.path}`;
  const verdict = (name: string, real: string, more: Readonly<Record<string, unknown>> = {}, seen?: Identity) =>
    context.judge('local_fs', name, { ...more, path: real }, seen && { ...seen, real });

  return {
    mayName(entry: Entry): boolean {
      const real = realOf(entry);
      if (!passesLimits(entry, real)) return false;
      return passes(verdict(tool, real, args) !== 'deny' && verdict('read_file', real) !== 'deny');
    },
    /** @param seen the file that will be opened */
    mayShow(entry: Entry, seen: Identity): boolean {
      const real = realOf(entry);
      if (!passesLimits(entry, real)) return false;
      granted ??= rank[context.judge('local_fs', tool, args)];
      const mayRead =
        rank[verdict(tool, real, args, seen)] <= granted && verdict('read_file', real, {}, seen) !== 'deny';
      return passes(mayRead);
    },
    notes(): readonly string[] {
      const notes: string[] = [];
      if (left > 0) notes.push(`[${left} left out by policy]`);
      if (limited > 0) notes.push(`[${limited} left out by _denied_path_substrings]`);
      return notes;
    },
  };
}

/** What a walk did not look at. */
export function walkNotes({ unreadable, tooDeep }: Walked): readonly string[] {
  const notes: string[] = [];
  if (unreadable > 0) notes.push(`[${unreadable} directories could not be read]`);
  if (tooDeep > 0)
    notes.push(`[${tooDeep} directories below ${maxDepth} levels were not entered; begin deeper with path]`);
  return notes;
}
