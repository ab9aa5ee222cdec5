import { createHash } from 'node:crypto';
import { boolean, integer, object, optional } from 'superstruct';
import { cancelled, fail, isFailure } from '../failure.ts';
import { between, inputSchema } from '../input-schema.ts';
import { defineTool, type Tool } from '../tool.ts';
import { markRead } from './marks.ts';
import { maxStreamBytes, readWhole } from './open.ts';
import { renderRange, scanRange } from './range.ts';
import {
  binaryFile,
  fileSubjectOf,
  outputPathNote,
  pathText,
  prepareReading,
  readOpened,
  ready,
  type SpoolSubject,
  streamTooLarge,
  type Subject,
  unfit,
} from './subject.ts';
import { countLines, decodeText } from './text.ts';
import { headBytes } from '../../text/utf8.ts';

/** Room for the line that says how to go on. */
const noticeBytes = 200;

const pathNote = { description: 'Path of the file, relative to the root or absolute.', minLength: 1 };

export function createReadTools(): readonly Tool[] {
  return [readFile(), readFileRange()];
}

function readFile(): Tool {
  const args = object({ path: pathText() });
  return defineTool<{ path: string }, Subject>({
    spec: {
      tools: 'local_fs',
      tool: 'read_file',
      description:
        'Reads a text file. A long file is cut at a line end, and the last line says how to go on with read_file_range.',
      input_schema: inputSchema(args, { path: pathNote }),
      read_only: true,
    },
    args,
    prepare({ path }, site) {
      const subject = fileSubjectOf(path, site);
      if (isFailure(subject)) return subject;
      const fault = subject.fault ?? tooLarge(subject, Number(subject.path.stat?.size ?? 0));
      return ready({ ...subject, fault }, site, path);
    },
    unfit,
    execute: ({ path }, context) =>
      readOpened(path, context, async ({ fd, size }) => {
        const { _max_read_bytes: max, _max_output_bytes: room } = context.facts.limits;
        const content = await readWhole(fd, size, max);
        if (context.signal.aborted) return cancelled();
        if (content === null) return tooLarge(context.facts, size) ?? tooLargeNow(path, max);
        const decoded = decodeText(content);
        if (decoded.kind === 'binary') return binaryFile(path, content.length, decoded.media);
        const sha256 = createHash('sha256').update(content).digest('hex');
        const lines = countLines(decoded.text);
        const shown = cutText(decoded.text, lines, room);
        const mark = { sha256, lines, shown: shown.lines === 'all' ? ('all' as const) : ([1, shown.lines] as const) };
        markRead(context.ports.marks, context.scope, context.facts.path.real, mark);
        return { ok: true, value: shown.text };
      }),
  });
}

function tooLarge({ path, limits }: Subject, size: number) {
  const max = limits._max_read_bytes;
  if (size <= max) return null;
  return fail(
    'too_large',
    `"${path.given}" has ${size} bytes; _max_read_bytes is ${max}. Read a part of it with read_file_range.`,
    { bytes: size, max_bytes: max },
  );
}

const tooLargeNow = (given: string, max: number) =>
  fail('too_large', `"${given}" grew beyond _max_read_bytes, which is ${max}. Use read_file_range.`, {
    max_bytes: max,
  });

/** Cuts at a line end; `lines` is the last whole line shown. */
function cutText(text: string, lines: number, max: number): { readonly text: string; readonly lines: number | 'all' } {
  if (text.length <= max && Buffer.byteLength(text) <= max) return { text, lines: 'all' };
  const head = headBytes(text, max - noticeBytes);
  const end = head.lastIndexOf('\n') + 1;
  const kept = end > 0 ? head.slice(0, end) : head;
  const last = countLines(kept.slice(0, end));
  const gap = kept.endsWith('\n') ? '' : '\n';
  const how =
    last > 0
      ? `after line ${last} of ${lines}; go on with read_file_range and start_line ${last + 1}`
      : `inside line 1 of ${lines}, which is longer than _max_output_bytes; grep finds parts of it`;
  return { text: `${kept}${gap}[cut ${how}]`, lines: last };
}

type RangeArgs = {
  path: string;
  start_line?: number | undefined;
  end_line?: number | undefined;
  numbers?: boolean | undefined;
};

function readFileRange(): Tool {
  const args = object({
    path: pathText(),
    start_line: optional(between(integer(), 1)),
    end_line: optional(between(integer(), 1)),
    numbers: optional(boolean()),
  });
  return defineTool<RangeArgs, Subject | SpoolSubject>({
    spec: {
      tools: 'local_fs',
      tool: 'read_file_range',
      description: 'Reads some lines of a text file, also of a file too large for read_file.',
      input_schema: inputSchema(args, {
        path: outputPathNote,
        start_line: { description: 'First line, counted from 1.', minimum: 1, default: 1 },
        end_line: { description: 'Last line, included. Default: the end of the file.', minimum: 1 },
        numbers: { description: 'Puts "N: " before each line.', default: false },
      }),
      read_only: true,
    },
    args,
    prepare({ path, start_line = 1, end_line }, site) {
      if (end_line !== undefined && end_line < start_line) {
        return fail('invalid_arguments', '"end_line" must not be smaller than "start_line".', { path: 'end_line' });
      }
      return prepareReading(path, site);
    },
    unfit,
    execute: ({ path, start_line = 1, end_line, numbers = false }, context) =>
      readOpened(path, context, async ({ fd, size }) => {
        if (size > maxStreamBytes) return streamTooLarge(path, size);
        const room = context.facts.limits._max_output_bytes - noticeBytes;
        const wanted = { start: start_line, end: end_line ?? Number.POSITIVE_INFINITY, room };
        const range = await scanRange(fd, size, wanted, context.signal);
        if (range.kind === 'aborted') return cancelled();
        if (range.kind === 'binary') return binaryFile(path, size, range.media);
        if (range.kind === 'too_large') return streamTooLarge(path, size);
        if (range.lines < start_line && !(range.lines === 0 && start_line === 1)) {
          return fail('out_of_range', `"${path}" has ${range.lines} lines; line ${start_line} does not exist.`, {
            lines: range.lines,
          });
        }
        const shown = renderRange(range.text, start_line, numbers, room);
        const last = Math.min(end_line ?? range.lines, range.lines);
        if (context.facts.kind === 'path' && shown.last >= start_line) {
          const { sha256, lines } = range;
          const mark = { sha256, lines, shown: [start_line, shown.last] as const };
          markRead(context.ports.marks, context.scope, context.facts.path.real, mark);
        }
        if (shown.last >= last) return { ok: true, value: shown.text };
        const gap = shown.text === '' || shown.text.endsWith('\n') ? '' : '\n';
        const how = shown.inside
          ? `inside line ${shown.last + 1} of ${range.lines}, which is longer than _max_output_bytes; grep finds parts of it`
          : `after line ${shown.last} of ${range.lines}; go on with start_line ${shown.last + 1}`;
        return { ok: true, value: `${shown.text}${gap}[cut ${how}]` };
      }),
  });
}
