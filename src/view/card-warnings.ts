import type { Ask, CallFlag } from '../schema/ask.ts';
import { hiddenCharacters } from './escape.ts';
import { plural } from './format.ts';

/** What stands out about a call, one sentence each with its place (10 §7.2). Not escaped. */
export function cardWarnings(ask: Ask): readonly string[] {
  const { preview, policy } = ask;
  const hidden = hiddenCharacters(allText(ask.args));
  return [
    ...(hidden.length === 0
      ? []
      : [`hidden or look-alike characters: ${hidden.join(', ')}${places(hiddenLines(ask.args))}`]),
    ...((preview.paths ?? []).some((path) => !path.inside) ? ['a path lies outside the workspace'] : []),
    ...flagged(preview.flags, 'secret_path', 'a place where secrets are kept'),
    ...(preview.url === undefined ? [] : [`talks to the network: ${preview.url.host}`]),
    ...flagged(preview.flags, 'network', 'may talk to the network'),
    ...flagged(preview.flags, 'runs_code', 'runs code that it is given'),
    ...(preview.repeat === undefined ? [] : [`asked ${preview.repeat} times in this run`]),
    ...askedAgain(ask),
    ...(preview.policy_changed === true ? ['the policy changed since this was asked'] : []),
    ...(policy.state === 'invalid' ? ['the policy is invalid: everything asks'] : []),
  ];
}

/** Why a call is asked about once more that was asked about before, and is still the one that the model made. */
export const askedAgain = ({ preview: { anew } }: Pick<Ask, 'preview'>): readonly string[] =>
  anew === undefined || anew.edited ? [] : [`asked again: ${anew.why.join(', ') || 'something has changed'}`];

/** What a change was made for that is asked about ahead of others of its file. */
export const followsOf = ({ preview: { follows } }: Pick<Ask, 'preview'>): string | null =>
  follows === undefined
    ? null
    : `on top of ${plural(follows.calls, 'earlier change')} of this file in the same message`;

/** 03 §8 `flags`: what a person should know before answering, as words for programs. */
export const askFlags = (ask: Ask): readonly string[] => [
  ...(hiddenCharacters(allText(ask.args)).length > 0 ? ['hidden_characters'] : []),
  ...((ask.preview.paths ?? []).some((path) => !path.inside) ? ['outside_workspace'] : []),
  ...(ask.preview.flags?.some(({ flag }) => flag === 'secret_path') === true ? ['secret_path'] : []),
  ...(ask.preview.flags?.some(({ flag }) => flag === 'runs_code') === true ? ['runs_code'] : []),
  ...(ask.preview.url !== undefined || ask.preview.flags?.some(({ flag }) => flag === 'network') === true
    ? ['network']
    : []),
  ...(ask.preview.repeat === undefined ? [] : [`repeat ${ask.preview.repeat}`]),
  ...(ask.policy.state === 'invalid' ? ['policy_invalid'] : []),
  ...(ask.verdict?.by.startsWith('agent:') === true ? ['adjudicated'] : []),
];

const flagged = (flags: readonly CallFlag[] = [], flag: CallFlag['flag'], words: string): readonly string[] => {
  const own = flags.filter((one) => one.flag === flag);
  return own.length === 0
    ? []
    : [`${words}: ${own.map(({ what, lines }) => `${what}${places(lines, ' (', ')')}`).join(', ')}`];
};

const mostPlaces = 4;

const places = (lines: readonly number[], before = ' · ', after = ''): string => {
  if (lines.length === 0) return '';
  const more = lines.length > mostPlaces ? ' …' : '';
  return `${before}${lines.length === 1 ? 'line' : 'lines'} ${lines.slice(0, mostPlaces).join(', ')}${more}${after}`;
};

/** Lines of the first argument of several lines that has something hidden in it. */
function hiddenLines(args: unknown): readonly number[] {
  const texts = typeof args === 'object' && args !== null ? Object.values(args) : [];
  for (const text of texts) {
    if (typeof text !== 'string' || !text.includes('\n') || hiddenCharacters(text).length === 0) continue;
    return text.split('\n').flatMap((line, index) => (hiddenCharacters(line).length > 0 ? [index + 1] : []));
  }
  return [];
}

/** Every text in the arguments, their names among them. */
export function allText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, each]) => `${key}\n${allText(each)}`)
    .join('\n');
}
