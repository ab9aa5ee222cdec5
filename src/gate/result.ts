import { isNestedDeeper, mostLevels } from '../text/json-depth.ts';
import { keepEnds } from '../text/keep-ends.ts';
import { headBytes } from '../text/utf8.ts';
import type { Spool, ToolResult } from '../tools/tool.ts';
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
  if (result.ok)
    return typeof result.value === 'string'
      ? wellFormed(result.value)
      : result.value == null
        ? ''
        : JSON.stringify(result.value);
  return errorText(result.error, result.message, result.extra);
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
 * preview; the whole lies in the run's spool under `@output/<call id>`.
 */
export function capResult(
  text: string,
  isText: boolean,
  maxBytes: number,
  runId: string,
  callId: string,
  spool: Spool,
): Rendered {
  const bytes = bytesOf(text);
  const sha256 = textSha256(text);
  if (bytes <= maxBytes) return { content: text, bytes, sha256, truncated: false, output_ref: null };
  const kept = spool.put(runId, callId, text);
  const name = kept?.name ?? null;
  const content = isText
    ? cutText(text, bytes, maxBytes, name, sha256, kept?.truncated ?? false)
    : JSON.stringify({
        ok: true,
        truncated: true,
        bytes,
        output: name,
        preview: headBytes(text, Math.floor(maxBytes / 2)),
      });
  return { content, bytes, sha256, truncated: true, output_ref: name };
}

function cutText(
  text: string,
  bytes: number,
  maxBytes: number,
  name: string | null,
  sha256: string,
  partial: boolean,
): string {
  const where =
    name === null
      ? 'the full result could not be kept'
      : `full result: ${name} (${bytes} bytes, sha256 ${sha256}${partial ? ', kept in part' : ''})`;
  const marker = (left: number): string => `[… ${left} bytes left out; ${where}]\n`;
  // The line between the two parts, and the line end before it, count: the whole stays within the cap.
  const room = Math.max(0, maxBytes - bytesOf(marker(bytes)) - 1);
  const { first, left, last } = keepEnds(Buffer.from(text), room);
  return `${first}${marker(left)}${last}`;
}
