import type { CommandWord } from '../schema/command.ts';
import { filledIn, readBehind } from './filled-in.ts';
import type { Payload } from './payload.ts';

/** Searches that start a command for what they find: the options behind which it stands, up to a `;` or `+`. */
export const finders: Readonly<Record<string, readonly string[]>> = {
  find: ['-exec', '-execdir', '-ok', '-okdir'],
  ...Object.fromEntries(['fd', 'fdfind'].map((name) => [name, ['-x', '-X', '--exec', '--exec-batch']])),
};

export function finderPayloads(runners: readonly string[], rest: readonly CommandWord[]): readonly Payload[] {
  const payloads: Payload[] = [];
  for (let at = 0; at < rest.length; at += 1) {
    const [word, next] = rest.slice(at, at + 2);
    // An unknown word with a program behind it may be one of them.
    const may = word?.open === true && next?.open === false && !next.text.startsWith('-') && closes(rest, at);
    if (!may && !runners.includes(word?.text ?? '')) continue;
    let end = at + 1;
    while (end < rest.length && rest[end]?.text !== ';' && rest[end]?.text !== '+') end += 1;
    const command = rest.slice(at + 1, end);
    // Without a place `fd` puts what it has found behind the words.
    const behind = !/^-(exec|ok)/.test(word?.text ?? '') && !command.some(({ text }) => /\{[./]{0,2}\}/.test(text));
    payloads.push({ kind: 'words', words: behind ? readBehind(command) : filledIn(command, '{}') });
    at = end;
  }
  return payloads;
}

const closes = (words: readonly CommandWord[], from: number): boolean =>
  words.some(({ text }, index) => index > from && /^[;+]$/.test(text));
