import { createHash, timingSafeEqual } from 'node:crypto';
import type { LoginRecords } from '../schema/login.ts';
import { refuse } from './error-body.ts';
import { userName } from './operator-name.ts';
import { hashable, normalise } from './passwords.ts';

const targetCost = 12;
const defaultPassword = 'admin';
/** Verifications at once, and those that may wait: a login costs a fifth of a second of a processor. */
const running = 2;
const waiting = 8;
/** Salt and digest of nothing in particular: what is hashed against when there is no stored hash. */
const nobody = 'Q84vmdNYG46uCToowogbPOUPfm.7Z5VmGb0nZ/2ZaGq6.YBaG6Wo.';

export type OperatorDeps = {
  readonly logins: Pick<LoginRecords, 'credential' | 'epoch' | 'rehash'>;
  /** 12, but in tests of something else. */
  readonly cost?: number;
};

/** The one password: hashes and compares it, two at a time, on the threads of the system's pool. */
export function createOperator({ logins, cost = targetCost }: OperatorDeps) {
  let busy = 0;
  const queue: (() => void)[] = [];

  /** @throws RuntimeError busy */
  const inTurn = async <T>(body: () => Promise<T>): Promise<T> => {
    if (busy >= running && queue.length >= waiting) {
      throw refuse('busy', 'Too many logins at once.', { retryAfterS: 1 });
    }
    if (busy >= running) await new Promise<void>((resolve) => queue.push(resolve));
    else busy += 1;
    try {
      return await body();
    } finally {
      // Whoever waited takes the place, once what has ended was counted.
      setImmediate(() => {
        const next = queue.shift();
        if (next === undefined) busy -= 1;
        else next();
      });
    }
  };
  const bcrypt = async () => (await import('bcrypt')).default;
  const hash = (password: string): Promise<string> =>
    inTurn(async () => (await bcrypt()).hash(hashable(normalise(password)), cost));
  const prefix = `$2b$${String(cost).padStart(2, '0')}$`;

  return {
    /** The default credentials were never replaced (09 §4.4, the first condition). */
    isUntouched: (): boolean => logins.epoch() === 0 && logins.credential() === null,

    hash,

    /**
     * Compares with the stored password, or with the default one where that is in force. Takes one verification whatever
     * the name and whatever is stored.
     * @param stillMay asked when its turn has come: those who waited with it may have failed too often by then
     * @throws RuntimeError busy
     */
    async verify(
      name: string,
      password: string,
      defaultInForce: boolean,
      stillMay: () => void = () => undefined,
    ): Promise<'pwd' | 'default' | null> {
      const stored = logins.credential();
      const given = normalise(password);
      const nameFits = same(name, userName);
      const known = stored?.hash ?? `${prefix}${nobody}`;
      const hashFits = await inTurn(async () => {
        stillMay();
        return (await bcrypt()).compare(hashable(given), known);
      });
      const defaultFits = same(given, defaultPassword);
      if (!nameFits) return null;
      if (stored === null) return defaultFits && defaultInForce ? 'default' : null;
      if (!hashFits || given.includes('\0')) return null;
      // Made at a lower cost: the same password is hashed anew.
      if (stored.hash.slice(0, prefix.length) < prefix) logins.rehash(stored.hash, await hash(password));
      return 'pwd';
    },
  };
}

export type Operator = ReturnType<typeof createOperator>;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
