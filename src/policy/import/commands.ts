import type { Action } from '../../schema/policy.ts';
import { type DraftRule, exactly, inexact, narrowed, onShell, type Outcome } from './draft.ts';

/** A word that means itself to a shell and to a list. */
const plainWord = /^[A-Za-z0-9_@%+:./^-][A-Za-z0-9_@%+=:./^-]*$/;

const prefix = (action: Action, words: readonly string[], note?: string): DraftRule => ({
  ...(note === undefined || note === '' ? {} : { '//': note }),
  ...onShell(action, [{ key: 'command', op: 'command_prefix_allowlist', value: words.join(' ') }]),
});

/**
 * A command pattern with at most a star at its end (02 §15): `words`, `words *`, `words:*`. A list covers every line that
 * begins with the words, so an exact allow also wants the line itself.
 */
export function commandPattern(action: Action, pattern: string): Outcome {
  const text = pattern.trim().replace(/:\*$/, ' *');
  if (text === '*' || text === '') return exactly([onShell(action)]);
  const open = text.endsWith(' *');
  const body = open ? text.slice(0, -2).trimEnd() : text;
  const words = body.split(/\s+/);
  const plain = words.every((word) => plainWord.test(word)) && !/^[A-Za-z_]\w*=/.test(words[0] ?? '');
  if (plain && (open || action !== 'allow')) {
    return open
      ? exactly([prefix(action, words)])
      : narrowed('also the same command with more words', [prefix(action, words)]);
  }
  if (plain) {
    const rule = prefix(action, words);
    const when = [...(rule.when ?? []), { key: 'command', op: 'eq', value: words.join(' ') }];
    return exactly([{ ...rule, when }]);
  }
  const star = body.includes('*');
  const why = star ? 'a star is read only as the last word' : 'holds what a list of commands cannot hold';
  const { literal, partial } = literalWords(words);
  if (action === 'allow' || literal.length === 0) return inexact(action, why, [onShell('approve')]);
  const outcome = narrowed(`${why}: as the words before it`, [prefix(action, literal)]);
  // `rm*` is about `rmdir` too, which no list of words says: what may be meant is not allowed either.
  return partial ? { ...outcome, shadow: literal.join(' ') } : outcome;
}

/** Exactly these words as the beginning of a command; words that a list cannot hold make it inexact. */
export function commandPrefix(action: Action, words: readonly string[], note?: string): Outcome {
  const isBad = (word: string, at: number): boolean => !plainWord.test(word) || (at === 0 && word.includes('='));
  const bad = words.find(isBad) ?? (words.length === 0 ? '' : undefined);
  if (bad === undefined) return exactly([prefix(action, words, note)]);
  return inexact(action, `${JSON.stringify(bad)} cannot stand in a list of commands`, [onShell('approve')]);
}

/** The words before the first that is no plain one; `partial`: the last of them goes on with a star. */
function literalWords(words: readonly string[]): { readonly literal: readonly string[]; readonly partial: boolean } {
  const literal: string[] = [];
  for (const word of words) {
    const star = word.indexOf('*');
    const text = star < 0 ? word : word.slice(0, star);
    const plain = plainWord.test(text) && !/^[A-Za-z_]\w*=/.test(text);
    if (plain) literal.push(text);
    if (star >= 0) return { literal, partial: plain };
    if (!plain) break;
  }
  return { literal, partial: false };
}
