import type { Drift } from '../schema/tool-sources.ts';
import type { Drifted } from './pins.ts';

/** The unified diff of two texts of this name; null when it cannot be made. */
export type DiffPort = (name: string, before: Uint8Array, after: Uint8Array) => Promise<string | null>;

/** Definitions that wait to be accepted, each with the difference as people read it: indented JSON, line by line. */
export const driftView = (drifted: readonly Drifted[], diff: DiffPort): Promise<Drift[]> =>
  Promise.all(
    drifted.map(async ({ tool, change, sha256, before, after }) => ({
      tool,
      change,
      sha256,
      before,
      after,
      diff: (await diff(tool, bytesOf(before), bytesOf(after))) ?? tooLong(tool),
    })),
  );

/** With the two lines that a diff begins with. */
const tooLong = (name: string): string => `--- a/${name}\n+++ b/${name}\nthe difference is too long to be shown\n`;

const bytesOf = (value: unknown): Uint8Array =>
  value === null ? new Uint8Array() : new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
