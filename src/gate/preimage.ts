import type { Preview } from '../schema/ask.ts';
import type { GateCall, Judged } from './stages.ts';

/** What the tool shows of the call as it was judged. */
export const toolPreview = async ({ found }: GateCall, { prepared }: Judged): Promise<Preview> =>
  (await found.tool.preview?.(prepared.args, prepared.facts, prepared.site)) ?? {};

/** Digest of the file that a call would change; null where there is none yet, or it changes none. */
export const preimageOf = (preview: Preview): string | null => preview.preimage?.sha256 ?? null;

/** Whether a person would see the same change, all of it. */
export const isSameChange = (one: Preview, other: Preview): boolean =>
  one.diff !== undefined &&
  one.diff === other.diff &&
  one.diff_note === undefined &&
  other.diff_note === undefined &&
  one.new_file === other.new_file;
