import { closeSync, lstatSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { TextDecoder } from 'node:util';
import { object } from 'superstruct';
import { cancelled, fail, ioFailure, isFailure } from '../failure.ts';
import { inputSchema } from '../input-schema.ts';
import { isSpoolName } from '../spool.ts';
import { defineTool, type Tool, type ToolContext, type ToolResult } from '../tool.ts';
import { blocks, maxStreamBytes, notFound, openAnchor } from './open.ts';
import {
  faultOf,
  openSubject,
  outputPathNote,
  pathText,
  prepareReading,
  readOpened,
  readSubjectOf,
  ready,
  type SpoolSubject,
  streamTooLarge,
  type Subject,
  subjectOf,
  unfit,
} from './subject.ts';
import { utf16Encoding } from './text.ts';

export function createStatTools(): readonly Tool[] {
  return [countStats(), statFile()];
}

function countStats(): Tool {
  const args = object({ path: pathText() });
  return defineTool<{ path: string }, Subject | SpoolSubject>({
    spec: {
      tools: 'local_fs',
      tool: 'count_stats',
      description: 'Counts lines, words and bytes of a file.',
      input_schema: inputSchema(args, { path: outputPathNote }),
      read_only: true,
    },
    args,
    prepare: ({ path }, site) => prepareReading(path, site),
    unfit,
    execute: ({ path }, context) =>
      readOpened(path, context, async ({ fd, size }) =>
        size > maxStreamBytes ? streamTooLarge(path, size) : countFile(fd, context),
      ),
  });
}

async function countFile(fd: number, context: ToolContext<unknown>): Promise<ToolResult> {
  let lines = 0;
  let words = 0;
  let size = 0;
  let inWord = false;
  let last = 0x0a;
  let decoder: TextDecoder | null | undefined;
  for await (const block of blocks(fd)) {
    if (context.signal.aborted) return cancelled();
    size += block.length;
    // In UTF-16 every other byte is none of a word, and a line end is none of its own.
    if (decoder === undefined) decoder = decoderOf(block);
    const text = decoder === null ? block : Buffer.from(decoder.decode(block, { stream: true }));
    for (const byte of text) {
      const blank = byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
      if (!blank && !inWord) words += 1;
      inWord = !blank;
      if (byte === 0x0a) lines += 1;
      last = byte;
    }
  }
  if (last !== 0x0a) lines += 1;
  return { ok: true, value: `Lines: ${lines}, Words: ${words}, Bytes: ${size}` };
}

function decoderOf(first: Buffer): TextDecoder | null {
  const utf16 = utf16Encoding(first);
  return utf16 === null ? null : new TextDecoder(utf16);
}

function statFile(): Tool {
  const args = object({ path: pathText() });
  return defineTool<{ path: string }, Subject | SpoolSubject>({
    spec: {
      tools: 'local_fs',
      tool: 'stat_file',
      description: 'Says type, size, time and mode of a path; of a link itself, not of its target.',
      input_schema: inputSchema(args, { path: outputPathNote }),
      read_only: true,
    },
    args,
    prepare({ path }, site) {
      if (isSpoolName(path)) {
        const spooled = readSubjectOf(path, site);
        return isFailure(spooled) ? spooled : ready(spooled, site, path);
      }
      const subject = subjectOf(path, site, false);
      if (isFailure(subject)) return subject;
      const fault = subject.path.stat === null ? notFound(subject.path) : null;
      return ready({ ...subject, fault }, site, path);
    },
    unfit,
    async execute({ path }, context) {
      const { facts } = context;
      return facts.kind === 'path' ? (faultOf(context) ?? statPath(path, facts)) : statSpooled(path, context);
    },
  });
}

function statPath(given: string, { path }: Subject): ToolResult {
  const anchor = openAnchor(path.parent.path, path.parent, given);
  if (isFailure(anchor)) return anchor;
  try {
    const at = join(anchor.base, path.name);
    const stat = lstatSync(at, { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) return fail('path_changed', `"${given}" is gone since it was checked. Call again.`);
    const type = stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'link' : 'other';
    return {
      ok: true,
      value: {
        name: path.name,
        path: given,
        type,
        size: Number(stat.size),
        mtime: new Date(Number(stat.mtimeMs)).toISOString(),
        mode: (stat.mode & 0o7777n).toString(8).padStart(4, '0'),
        ...(type === 'link' ? { link_target: readlinkSync(at) } : {}),
      },
    };
  } catch (error) {
    return ioFailure(error, `"${given}"`);
  } finally {
    anchor.close();
  }
}

function statSpooled(name: string, context: ToolContext<Subject | SpoolSubject>): ToolResult {
  const opened = openSubject(context);
  if (isFailure(opened)) return opened;
  closeSync(opened.fd);
  return { ok: true, value: { name: basename(name), path: name, type: 'file', size: opened.size } };
}
