import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { ServerGround } from '../app-options.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { LoginRecords } from '../schema/login.ts';

const leastBytes = 32;
const leastDistinct = 8;

/**
 * Reads a signing secret that the operator supplies (09 §4.10): base64url or hex of at least 32 bytes.
 * @param source the variable or file, for the message @throws RuntimeError config_invalid
 */
function readSecret(text: string, source: string): Uint8Array {
  const bare = text.trim();
  const bytes =
    /^[0-9a-fA-F]+$/.test(bare) && bare.length % 2 === 0
      ? Buffer.from(bare, 'hex')
      : /^[A-Za-z0-9_-]+={0,2}$/.test(bare)
        ? Buffer.from(bare, 'base64url')
        : null;
  if (bytes !== null && bytes.length >= leastBytes && new Set(bytes).size >= leastDistinct) return bytes;
  throw new RuntimeError(
    'config_invalid',
    `${source} is no signing secret: base64url or hex of at least ${leastBytes} random bytes.`,
    { hints: ['head -c 32 /dev/urandom | base64 | tr +/ -_'] },
  );
}

export type SigningDeps = {
  readonly logins: Pick<LoginRecords, 'secret' | 'epoch' | 'instanceId'>;
  readonly machineKey: Uint8Array;
  readonly override: Uint8Array | null;
};

/**
 * The key that signs, of this database, this machine and this password: a copied database is not enough to make a token,
 * and no two databases accept each other's.
 */
export function createSigningKey({ logins, machineKey, override }: SigningDeps) {
  let made: { readonly of: string; readonly key: KeyObject } | null = null;
  return (): KeyObject => {
    const secret = override ?? logins.secret().bytes;
    const epoch = logins.epoch();
    const of = `${epoch} ${Buffer.from(secret).toString('base64')}`;
    if (made?.of !== of) {
      const material = Buffer.concat([secret, machineKey]);
      const key = hkdfSync('sha256', material, logins.instanceId, `reins-session-v1${epoch}`, 32);
      // As an object: given bytes, the package tries to read a public key of them each time, which takes a millisecond.
      made = { of, key: createSecretKey(new Uint8Array(key)) };
    }
    return made.key;
  };
}

/** Where a signing secret and an access token of the operator's own come from. */
export type SecretSources = {
  readonly secret: string | null;
  readonly secretFile: string | null;
  readonly token: string | null;
};

const leastTokenCharacters = 32;

/** The overrides that are given, checked; the variable comes before the file. @throws RuntimeError config_invalid */
export function readOverrides(
  ground: Pick<ServerGround, 'secretFile'>,
  { secret, secretFile, token }: SecretSources,
): { readonly secret: Uint8Array | null; readonly token: string | null } {
  if (token !== null && token.length < leastTokenCharacters) {
    throw new RuntimeError('config_invalid', `REINS_BEAM_TOKEN has fewer than ${leastTokenCharacters} characters.`);
  }
  if (secret !== null) return { secret: readSecret(secret, 'REINS_JWT_SECRET'), token };
  if (secretFile === null) return { secret: null, token };
  const text = ground.secretFile(secretFile);
  if (text === null) throw new RuntimeError('config_invalid', `REINS_JWT_SECRET_FILE: there is no file ${secretFile}.`);
  return { secret: readSecret(text, `REINS_JWT_SECRET_FILE (${secretFile})`), token };
}
