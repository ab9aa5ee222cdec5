import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { ServerGround } from '../app-options.ts';
import type { Secrets } from '../registry/secrets.ts';
import { ensurePrivateFile, readPrivateFile } from '../store/private-file.ts';
import { writeAtomic } from '../workspace/files.ts';

const label = 'beam.token';
const pathIn = (reinsHome: string): string => join(reinsHome, 'beam-token');
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
const newToken = (): Uint8Array => Buffer.from(`rbt_${randomBytes(32).toString('base64url')}\n`);

/** The access token of the server in its file; whatever is read or made is known to the mask from then on. */
export function serverToken(reinsHome: string, secrets: Secrets): ServerGround['token'] {
  const path = pathIn(reinsHome);
  const known = (bytes: Uint8Array): string => {
    const text = textOf(bytes);
    secrets.register(label, text.trim());
    return text;
  };
  return {
    path,
    ensure: () => known(ensurePrivateFile(path, newToken)),
    read: () => {
      const bytes = readPrivateFile(path);
      return bytes === null ? null : known(bytes);
    },
    rotate: () => {
      const bytes = newToken();
      writeAtomic(path, textOf(bytes), 0o600);
      return known(bytes);
    },
  };
}

/** Makes what opens the server known to the mask of a run (11 §5.3.1), which has no other use for it. Never throws. */
export function hideServerSecrets(reinsHome: string, secrets: Secrets): void {
  secrets.read('REINS_BEAM_TOKEN', label);
  secrets.read('REINS_JWT_SECRET', 'beam.secret');
  try {
    const bytes = readPrivateFile(pathIn(reinsHome));
    if (bytes !== null) secrets.register(label, textOf(bytes).trim());
  } catch {
    // A file that others can read opens nothing.
  }
}
