import { isNestedDeeper, mostLevels } from '../text/json-depth.ts';
import { keepEnds } from '../text/keep-ends.ts';
import { headBytes } from '../text/utf8.ts';
import type { Kept, ToolResult } from '../tools/tool.ts';
import { textSha256 } from './binding.ts';

/** A result as it goes to the model, and what is recorded of it. */
export type Rendered = {
  readonly content: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly truncated: boolean;
  readonly output_ref: string | null;
};

const bytesOf = (text: string): number => Buffer.byteLength(text);

/** 04 §14.4: null is nothing, strings are as they are, everything else is compact JSON; errors are one object. */
export function resultText(result: ToolResult): string {
  if (!result.ok) return errorText(result.error, result.message, result.extra);
  if (typeof result.value === 'string') return wellFormed(result.value);
  return result.value == null ? '' : JSON.stringify(result.value);
}

export const errorText = (error: string, message: string, extra: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({ ok: false, error, message, ...extra });

const wellFormed = (text: string): string => text.toWellFormed().replaceAll('\u0000', '\ufffd');

/**
 * A result is walked by masking, records and templates: one that is nested without end would end the run instead. It is
 * given as text; one that cannot even be written is an error.
 */
export function shallowResult(result: ToolResult): ToolResult {
  if (!result.ok || !isNestedDeeper(result.value, mostLevels)) return result;
  try {
    return { ...result, value: JSON.stringify(result.value) };
  } catch {
    const message = `The tool was run, but its result is nested deeper than ${mostLevels} levels and cannot be read.`;
    return { ok: false, error: 'tool_error', message };
  }
}

/**
 * Caps a result (04 §14.7): a bigger text keeps its first 20 % and last 80 % at line ends, a bigger JSON value becomes a
 * preview.
 * @param isText whether the text is the result itself, not the JSON of it
 * @param keep puts the whole where it can be read again; called for a result that is cut
 */
export function capResult(text: string, isText: boolean, maxBytes: number, keep: Keep): Rendered {
  const bytes = bytesOf(text);
  const sha256 = textSha256(text);
  if (bytes <= maxBytes) return { content: text, bytes, sha256, truncated: false, output_ref: null };
  const kept = keep(text);
  const output_ref = kept.name;
  const preview = (): string => headBytes(text, Math.floor(maxBytes / 2));
  const content = isText
    ? cutText(text, maxBytes, whereWhole(kept, bytes, sha256))
    : JSON.stringify({ ok: true, truncated: true, bytes, output: output_ref, preview: preview() });
  return { content, bytes, sha256, truncated: true, output_ref };
}

type Keep = (whole: string) => Kept;

function whereWhole(kept: Kept, bytes: number, sha256: string): string {
  if (kept.name === null) return 'the full result could not be kept';
  return `full result: ${kept.name} (${bytes} bytes, sha256 ${sha256}${kept.truncated ? ', kept in part' : ''})`;
}

function cutText(text: string, maxBytes: number, where: string): string {
  const marker = (left: number): string => `[… ${left} bytes left out; ${where}]\n`;
  // The line between the two parts, and the line end before it, count: the whole stays within the cap.
  const room = Math.max(0, maxBytes - bytesOf(marker(bytesOf(text))) - 1);
  const { first, left, last } = keepEnds(Buffer.from(text), room);
  return `${first}${marker(left)}${last}`;
}
