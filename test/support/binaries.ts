import { type Binaries, createBinaries } from '../../src/gate/binaries.ts';
import hashBinary from '../../workers/hash-binary.ts';

/** Digests taken by the real job, in this thread. */
export const realBinaries = (now: () => number = Date.now): Binaries =>
  createBinaries({ hash: (path) => hashBinary({ path }), now });
