import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import type { PolicyCall } from '../schema/policy.ts';
import type { WrittenRule } from '../schema/policy-views.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { parseUrl } from '../text/parse-url.ts';
import type { Judge } from './judge.ts';

/** A call that a person let through, once for each time that he did. */
export type Approval = { readonly call: PolicyCall; readonly ask: string; readonly at: number };

/** A rule that may be proposed, and the approvals that it stands for. */
export type Candidate = {
  readonly rule: WrittenRule;
  readonly approvals: readonly Approval[];
  /** The directory that it opens, relative to the root; null for other rules. */
  readonly directory: string | null;
};

export type CandidateBounds = {
  /**
   * Every argument that the tool may have: in an exact rule those that were absent must be absent. Null where nobody knows
   * them: then there is no exact rule.
   */
  readonly names: readonly string[] | null;
  readonly root: string;
  readonly wordsOf: Judge['wordsOf'];
  /** Approvals that a rule takes. */
  readonly least: number;
};

/** Fewest approvals that make a rule (02 §14.6). */
export const fewest = 3;
const mostWords = 3;

/**
 * Rules that the approvals of one tool may become, narrowest kind first: exact arguments, a directory, the first words of
 * a command. Nothing is judged here: whoever proposes one has to try it.
 */
export function candidatesOf(approvals: readonly Approval[], bounds: CandidateBounds): readonly Candidate[] {
  const { names, root, wordsOf, least } = bounds;
  const [first] = approvals;
  if (first === undefined) return [];
  const exact =
    names === null
      ? []
      : groups(approvals, least, ({ call }) => [canonicalJson(call.args)]).flatMap((group) => exactRule(group, names));
  const directories = groups(approvals, least, ({ call }) => directoriesAbove(call.args['path'], root), deepest).map(
    ({ key, members }) => ({
      rule: { ...namesOf(first), when: [{ key: 'path', op: 'path_within', value: key }], action: 'allow' as const },
      approvals: members,
      directory: key,
    }),
  );
  const prefixes =
    first.call.tools === 'local_shell'
      ? groups(approvals, least, ({ call }) => prefixesOf(wordsOf(call)), mostWordsFirst).map(({ key, members }) => ({
          rule: {
            ...namesOf(first),
            when: [{ key: 'command', op: 'command_prefix_allowlist', value: key }],
            action: 'allow' as const,
          },
          approvals: members,
          directory: null,
        }))
      : [];
  return [...exact, ...directories, ...prefixes];
}

type Group = { readonly key: string; readonly members: readonly Approval[] };

/** Approvals under each of their keys, groups that are large enough. */
function groups(
  approvals: readonly Approval[],
  least: number,
  keysOf: (approval: Approval) => readonly string[],
  order: (a: Group, b: Group) => number = () => 0,
): readonly Group[] {
  const found = new Map<string, Approval[]>();
  for (const approval of approvals) {
    for (const key of new Set(keysOf(approval))) found.set(key, [...(found.get(key) ?? []), approval]);
  }
  return [...found]
    .map(([key, members]) => ({ key, members }))
    .filter(({ members }) => members.length >= least)
    .sort(order);
}

const deepest = (a: Group, b: Group): number => b.key.split('/').length - a.key.split('/').length;
const mostWordsFirst = (a: Group, b: Group): number => b.key.split(' ').length - a.key.split(' ').length;

const namesOf = ({ call }: Approval) => ({ tools: call.tools, tool: call.tool });

/** Arguments that name a path of this machine, by toolset: the same text leads elsewhere once a link stands there. */
const placeKeys: Readonly<Record<string, string | undefined>> = { local_fs: 'path', local_shell: 'cwd' };

/**
 * Each argument as it was, a path also where it was, and every other absent; none where an argument is more than a plain
 * value.
 */
function exactRule({ members }: Group, names: readonly string[]): readonly Candidate[] {
  const [first] = members;
  if (first === undefined) return [];
  // An injected argument is the operator's own, and recorded without its value: no rule is about it.
  const isInjected = (key: string, value: unknown): boolean => value === '(injected)' && !names.includes(key);
  const given = Object.entries(first.call.args).filter(([key, value]) => value !== null && !isInjected(key, value));
  const plain = given.every(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  if (!plain || given.some(([key]) => key.startsWith('/') || key === '')) return [];
  const absent = names.filter((name) => !given.some(([key]) => key === name));
  const when = [
    ...given.map(([key, value]) => ({
      key,
      op: 'eq',
      value: typeof value === 'string' ? value : JSON.stringify(value),
    })),
    ...given
      .filter(([key]) => key === placeKeys[first.call.tools])
      .map(([key, value]) => ({ key, op: 'path_within', value: String(value) })),
    ...absent.map((key) => ({ key, op: 'exists', value: 'false' })),
  ];
  return [{ rule: { ...namesOf(first), when, action: 'allow' }, approvals: members, directory: null }];
}

/** Directories between the root and a path, without the root itself: a rule for all of it would be no narrow one. */
function directoriesAbove(path: unknown, root: string): readonly string[] {
  if (typeof path !== 'string' || path.includes('\0') || path.startsWith('~')) return [];
  const inside = relative(root, dirname(resolve(root, path)));
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) return [];
  const parts = inside.split(sep);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** The host of a call that names one. */
export function hostRules(call: PolicyCall): readonly WrittenRule[] {
  const { url } = call.args;
  const value = typeof url === 'string' ? (parseUrl(url)?.hostname.replace(/^\[|\]$/g, '') ?? '') : '';
  if (value === '') return [];
  return [{ tools: call.tools, tool: call.tool, when: [{ key: 'url', op: 'host', value }], action: 'allow' }];
}

/**
 * Rules for a line of commands, an entry for each of them, those of most words first (03 §9): the line as a whole is
 * never an entry.
 * @param isTabled whether there is an option table for the program of a word, which judges what an entry leaves open
 */
export function prefixRules(
  call: PolicyCall,
  commands: readonly (readonly string[])[],
  isTabled: (word: string) => boolean,
): readonly WrittenRule[] {
  const lists = Array.from({ length: mostWords }, (_, short) => {
    const entries = commands.map((words) =>
      offeredOf(words, isTabled)
        .filter(hasAtMost(mostWords - short))
        .at(-1),
    );
    return entries.length === 0 || entries.includes(undefined) ? null : [...new Set(entries)].join(', ');
  });
  return [...new Set(lists)].flatMap((value): readonly WrittenRule[] =>
    value === null
      ? []
      : [
          {
            tools: call.tools,
            tool: call.tool,
            when: [{ key: 'command', op: 'command_prefix_allowlist', value }],
            action: 'allow',
          },
        ],
  );
}

/**
 * Of a program without a table nothing judges what follows: a word that is no option may be its subcommand, which then
 * stays in the entry (`gh pr view`, never `gh pr`), and behind an option stands what it is about (`psql -d app -c …`).
 */
function offeredOf(words: readonly string[], isTabled: (word: string) => boolean): readonly string[] {
  const all = prefixesOf(words);
  if (isTabled(words[0] ?? '')) return all;
  const isOption = (word: string | undefined): boolean => word?.startsWith('-') === true;
  return all.filter((_, index) => {
    const length = index + 1;
    if (length === words.length) return true;
    if (length === 1 || words.slice(0, length).some(isOption)) return false;
    return length === all.length || isOption(words[length]);
  });
}

const hasAtMost =
  (most: number) =>
  (prefix: string): boolean =>
    prefix.split(' ').length <= most;

/** The first words of a command that a list may hold, at most three, fewest first. */
export function prefixesOf(words: readonly string[] | null): readonly string[] {
  if (words === null) return [];
  return Array.from({ length: Math.min(words.length, mostWords) }, (_, index) => words.slice(0, index + 1))
    .filter((prefix) => prefix.every((word) => word !== '' && !/[\s,]/.test(word)))
    .map((prefix) => prefix.join(' '));
}
