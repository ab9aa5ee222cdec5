import { randomBytes } from 'node:crypto';
import { RuntimeError } from '../schema/errors.ts';
import type { SessionRow, Sessions } from '../store/sessions.ts';
import { nearest } from '../text/nearest.ts';

/** 07 §1.5. */
const mostCharacters = 64;

type Names = Pick<Sessions, 'byName'>;

/** 07 §1.5, in NFC. @throws RuntimeError usage. */
export function checkedName(text: string): string {
  const name = text.normalize('NFC');
  if (/^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*$/u.test(name) && [...name].length <= mostCharacters) return name;
  throw new RuntimeError('usage', 'A session name has 1 to 64 letters, digits, ".", "_" or "-", no sign first.');
}

export function freeName(sessions: Names): string {
  for (;;) {
    const name = `session-${randomBytes(4).toString('hex')}`;
    if (sessions.byName(name) === undefined) return name;
  }
}

/** The name of a copy: `<name>-2`, `-3` and so on, cut where it would be too long (07 §2.8). */
export function copyName(sessions: Names, name: string): string {
  for (let number = 2; ; number += 1) {
    const end = `-${number}`;
    const copy = `${[...name].slice(0, mostCharacters - end.length).join('')}${end}`;
    if (sessions.byName(copy) === undefined) return copy;
  }
}

/** Finds the session that a person meant: the named one, or the active one without a name. */
export function createFindSession(sessions: Sessions) {
  const named = (name: string): SessionRow => {
    const row = sessions.byName(name.normalize('NFC'));
    if (row !== undefined) return row;
    const near = nearNames(
      name,
      sessions.brief().map((other) => other.name),
    );
    const hint = near.length === 0 ? '' : ` Near names: ${near.join(', ')}.`;
    throw new RuntimeError('not_found', `There is no session "${name}".${hint}`, {
      data: { near },
      hints: ['reins session list'],
    });
  };
  const active = (): SessionRow => {
    const id = sessions.activeId();
    const row = id === null ? undefined : sessions.byId(id);
    if (row !== undefined) return row;
    throw new RuntimeError('not_found', 'No session is active.', {
      hints: ['reins session list', 'reins session new'],
    });
  };
  /** @throws RuntimeError not_found */
  return (name: string | null): SessionRow => (name === null ? active() : named(name));
}

/** Up to five names that the given one may have meant: those that begin with it, then the nearest. */
function nearNames(wanted: string, names: readonly string[]): readonly string[] {
  const longer = names.filter((name) => name.startsWith(wanted)).sort();
  const near = nearest(wanted, names, Math.max(2, Math.floor([...wanted].length / 2)), 5);
  return [...new Set([...longer, ...near])].slice(0, 5);
}
