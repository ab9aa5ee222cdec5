import type { Drift } from '../schema/tool-sources.ts';
import { wholeDiff } from '../tools/files/diff.ts';
import type { Drifted } from './pins.ts';

/** Definitions that wait to be accepted, each with the difference as people read it: indented JSON, line by line. */
export const driftView = (drifted: readonly Drifted[]): Promise<Drift[]> =>
  Promise.all(
    drifted.map(async ({ tool, change, sha256, before, after }) => ({
      tool,
      change,
      sha256,
      before,
      after,
      diff: (await wholeDiff(tool, bytesOf(before), bytesOf(after))) ?? 'the difference is too long to be shown',
    })),
  );

const bytesOf = (value: unknown): Uint8Array =>
  value === null ? new Uint8Array() : new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
