import { isUtf8 } from 'node:buffer';
import { boolean, integer, object, optional, string } from 'superstruct';
import { fail, type ToolFailure } from '../failure.ts';
import { between, bytes, inputSchema } from '../input-schema.ts';
import { defineTool, type Tool } from '../tool.ts';
import {
  type ChangeFacts,
  type MakeChange,
  planChange,
  previewChange,
  replaceIn,
  type WriteDeps,
  writeChange,
} from './change.ts';
import type { Preimage } from './commit.ts';
import type { Wording } from './edit.ts';
import { markFault } from './marks.ts';
import { binaryFile, pathText, unfit } from './subject.ts';
import { decodeText, encodeText, plainForm, utf16Encoding } from './text.ts';

/** A text to find is a part of a file that can be edited. */
const maxFindBytes = 5 * 1024 * 1024;

const pathNote = { description: 'Path of the file, relative to the root or absolute.', minLength: 1 };

export function createWriteTools(deps: WriteDeps): readonly Tool[] {
  return [writeFile(deps), editFile(deps), sed(deps)];
}

function writeFile(deps: WriteDeps): Tool {
  const args = object({ path: pathText(), content: string() });
  return defineTool<{ path: string; content: string }, ChangeFacts>({
    spec: {
      tools: 'local_fs',
      tool: 'write_file',
      description:
        'Writes a whole text file, and makes missing directories. An existing file must have been read completely before.',
      input_schema: inputSchema(args, { path: pathNote, content: { description: 'The whole new content.' } }),
      read_only: false,
    },
    args,
    prepare: ({ path, content }, site) => planChange(deps, path, site, wholeFile(content)),
    unfit,
    preview: (_args, facts) => previewChange(facts),
    execute: (_args, context) => writeChange(context),
  });
}

const wholeFile =
  (content: string): MakeChange =>
  (before, mark, { path }) => {
    const known = before !== null && before.bytes.length > 0;
    const binary = known && mark === null ? binaryFault(before.bytes, path.given) : null;
    if (binary !== null) return binary;
    const unread = known ? markFault(mark, before.sha256, path.given, 'full') : null;
    const fault = unread ?? lossFault(content, before, path.given);
    return fault ?? { ok: true, after: inOldForm(content, before), replacements: null };
  };

/** What cannot be read can never have been: to ask for that first would lead nowhere. */
function binaryFault(bytes: Buffer, given: string): ToolFailure | null {
  const old = decodeText(bytes);
  if (old.kind !== 'binary') return null;
  const fault = binaryFile(given, bytes.length, old.media);
  return {
    ...fault,
    message: `${fault.message} write_file does not replace it. If that is meant, take it away first.`,
  };
}

/** What could not be read was shown as U+FFFD: given back, it would be written in the place of what is there. */
function lossFault(content: string, before: Preimage, given: string): ToolFailure | null {
  const isLoss =
    before !== null && content.includes('\ufffd') && !isUtf8(before.bytes) && utf16Encoding(before.bytes) === null;
  if (!isLoss) return null;
  const message = `"${given}" is not UTF-8 text: U+FFFD stands for what could not be read, and writing it would lose that. Convert the file first, or write the content without U+FFFD.`;
  return fail('not_utf8', message);
}

/**
 * A model was shown LF and no byte order mark: what it gives back is put into the form of the old file (05 §4.4). Line
 * ends that it writes itself stay as they are.
 */
function inOldForm(content: string, before: Preimage): Buffer {
  if (before === null) return Buffer.from(content);
  const old = decodeText(before.bytes);
  const form = old.kind === 'text' && old.editable ? old.form : plainForm;
  return encodeText(content, {
    bom: form.bom && !content.startsWith('\ufeff'),
    crlf: form.crlf && !content.includes('\r'),
  });
}

type EditArgs = { path: string; old_string: string; new_string: string; replace_all?: boolean | undefined };

function editFile(deps: WriteDeps): Tool {
  const args = object({
    path: pathText(),
    old_string: bytes(string(), 0, maxFindBytes),
    new_string: string(),
    replace_all: optional(boolean()),
  });
  return defineTool<EditArgs, ChangeFacts>({
    spec: {
      tools: 'local_fs',
      tool: 'edit_file',
      description:
        'Replaces one text by another in a file that was read before. The old text must occur exactly once, unless replace_all is true.',
      input_schema: inputSchema(args, {
        path: pathNote,
        old_string: { description: 'The text to replace, exactly as the file has it.', minLength: 1 },
        new_string: { description: 'The text to put in its place.' },
        replace_all: { description: 'Replaces every occurrence.', default: false },
      }),
      read_only: false,
    },
    args,
    prepare({ path, old_string, new_string, replace_all }, site) {
      if (old_string === '') {
        const message =
          '"old_string" is empty. Give a text of the file, and put it into "new_string" as well to add to it; write_file makes a file or replaces a whole one.';
        return fail('invalid_arguments', message, { path: 'old_string' });
      }
      if (old_string === new_string) {
        const message = '"old_string" and "new_string" are equal, so there is nothing to change.';
        return fail('invalid_arguments', message, { path: 'new_string' });
      }
      const wanted = replace_all === true ? 'all' : 'one';
      const wording = { all: 'set "replace_all" to true' };
      const to = Number.POSITIVE_INFINITY;
      return planChange(
        deps,
        path,
        site,
        replaceIn({ wording, find: old_string, put: new_string, wanted, from: 1, to }),
      );
    },
    unfit,
    preview: (_args, facts) => previewChange(facts),
    execute: (_args, context) => writeChange(context),
  });
}

type SedArgs = {
  path: string;
  pattern: string;
  replacement: string;
  all?: boolean | undefined;
  expect_replacements?: number | undefined;
  start_line?: number | undefined;
  end_line?: number | undefined;
};

const sedWording: Wording = {
  all: 'set "all" to true, or "expect_replacements", or the lines in which it may begin',
  absent: (pattern) =>
    /^s([/|#,]).*\1.*\1|[.\])][*+?]|\\[dswbDSWB(){}|.]|^\^|\$$/s.test(pattern.slice(0, 200))
      ? 'The pattern is taken literally: it is no regular expression and no sed command.'
      : null,
};

function sed(deps: WriteDeps): Tool {
  const args = object({
    path: pathText(),
    pattern: bytes(string(), 0, maxFindBytes),
    replacement: string(),
    all: optional(boolean()),
    expect_replacements: optional(between(integer(), 1)),
    start_line: optional(between(integer(), 1)),
    end_line: optional(between(integer(), 1)),
  });
  return defineTool<SedArgs, ChangeFacts>({
    spec: {
      tools: 'local_fs',
      tool: 'sed',
      description:
        'Replaces literal text (no regular expression) in a file that was read before: exactly one match, all matches, or exactly expect_replacements.',
      input_schema: inputSchema(args, {
        path: pathNote,
        pattern: { description: 'The literal text to find.', minLength: 1 },
        replacement: { description: 'The literal text to put in its place.' },
        all: { description: 'Replaces every match.', default: false },
        expect_replacements: { description: 'Replaces every match, if there are exactly this many.', minimum: 1 },
        start_line: { description: 'First line in which a match may begin, counted from 1.', minimum: 1 },
        end_line: { description: 'Last line in which a match may begin.', minimum: 1 },
      }),
      read_only: false,
    },
    args,
    prepare({ path, pattern, replacement, all, expect_replacements: count, start_line: from = 1, end_line }, site) {
      if (pattern === '')
        return fail('invalid_arguments', '"pattern" is empty. Give a text of the file.', { path: 'pattern' });
      if (pattern === replacement) {
        const message = '"pattern" and "replacement" are equal, so there is nothing to change.';
        return fail('invalid_arguments', message, { path: 'replacement' });
      }
      const to = end_line ?? Number.POSITIVE_INFINITY;
      if (to < from) {
        return fail('invalid_arguments', '"end_line" must not be smaller than "start_line".', { path: 'end_line' });
      }
      const wanted = count ?? (all === true ? 'all' : 'one');
      return planChange(
        deps,
        path,
        site,
        replaceIn({ wording: sedWording, find: pattern, put: replacement, wanted, from, to }),
      );
    },
    unfit,
    preview: (_args, facts) => previewChange(facts),
    execute: (_args, context) => writeChange(context),
  });
}
