import type { Preview } from '../schema/ask.ts';
import type { Looked } from '../tools/tool.ts';
import type { GateCall, Judged } from './stages.ts';

/** What the tool shows of the call as it was judged, and where its path leads (03 §8). */
export const toolPreview = async ({ found }: GateCall, { prepared }: Judged): Promise<Preview> => {
  const { args, facts, site, looked, cwd } = prepared;
  const shown = (await found.tool.preview?.(args, facts, site)) ?? {};
  // The directory of the call has a line of its own.
  const isTold = looked === null || (looked.real === cwd && !looked.outside_root);
  return isTold ? shown : { ...shown, paths: [pathOf(looked)] };
};

const pathOf = ({ given, real, outside_root, link }: Looked) => ({ given, real, inside: !outside_root, link });

/** Digest of the file that a call would change; null where there is none yet, or it changes none. */
export const preimageOf = (preview: Preview): string | null => preview.preimage?.sha256 ?? null;

/** Whether a person would see the same change, all of it. */
export const isSameChange = (one: Preview, other: Preview): boolean =>
  one.diff !== undefined &&
  one.diff === other.diff &&
  one.diff_note === undefined &&
  other.diff_note === undefined &&
  one.new_file === other.new_file;
