import type { Ruler } from './move.ts';
import { emptyEditing, typeText } from './composer/editing.ts';
import type { Field } from './overlays/field.ts';
import { filterField } from './overlays/overlay.ts';
import { opened } from './overlays/press.ts';
import { planSlash } from './plan/plan-press.ts';
import type { ReportKind } from './effect.ts';
import type { NotifyWay } from './notify.ts';
import { noSession, type SlashIntent } from './slash-intent.ts';
import { themes } from './theme.ts';
import { namedAsk } from './approvals/approvals-state.ts';
import { answeredIn } from './asking.ts';
import { findCommand, type SlashCommand } from './composer/slash-commands.ts';
import { policySlash } from './slash-policy.ts';
import { startSearch } from './search.ts';
import { type Change, only, type State } from './state.ts';
import { saying } from './sending.ts';

/** A string is what is wrong with the arguments: the line stays in the composer (10 §17). */
type Slash = (state: State, args: string, now: number, ruler: Ruler) => Change | string;

const named = (args: string): string | null => (args.trim() === '' ? null : args.trim());
/** Messages that stay as they are behind a summary, unless others are asked for (07 §2.9). */
const keptMessages = 8;
const mostTrimmed = 1_000_000;
const quiet = (state: State, text: string, now: number): Change => only(saying(state, text, now));

const intended = (state: State, intent: SlashIntent): Change => only(state, { do: 'slash', intent });
const report = (state: State, what: ReportKind, args: string): Change => {
  const of = named(args);
  return only(state, of === null ? { do: 'report', what } : { do: 'report', what, of });
};

/** What the commands of the composer do (10 §6.5). One that is not here belongs to something that is not there yet. */
const commands: Readonly<Record<string, Slash>> = {
  help: (state, args) => {
    const named = findCommand(args.trim().replace(/^\//, ''));
    return named === undefined ? helpAbout(state, args) : shownText(state, `/${named.name}`, commandHelp(named));
  },
  keys: (state, args) => (args.trim() === 'reload' ? intended(state, { do: 'reload-keys' }) : helpAbout(state, args)),
  queue: (state, _args, now) => {
    const { queue } = state.composer;
    return queue.length === 0
      ? quiet(state, 'nothing is queued', now)
      : shownText(
          state,
          'Queue',
          queue.map(({ text }, index) => `${index + 1}. ${text}`),
        );
  },
  sessions: (state) => opened(state, 'sessions'),
  new: (state, args) => only(state, { do: 'new-session', name: named(args) }),
  clear: (state, args) => only(state, { do: 'new-session', name: named(args) }),
  switch: (state, args) => only(state, { do: 'switch-session', of: args.trim() }),
  rename: (state, args, now) =>
    state.session === null
      ? quiet(state, noSession, now)
      : only(state, { do: 'rename-session', of: state.session, to: args.trim() }),
  fork: (state, args, now) => {
    const seq = /(?:^|\s)--at[ =](\d+)(?=\s|$)/.exec(args)?.[1];
    const at = seq === undefined ? null : Number(seq);
    const to = named(args.replace(/(^|\s)--at[ =]\d+(?=\s|$)/, '').replace(/(^|\s)--summary(?=\s|$)/, ''));
    if (state.session === null) return quiet(state, noSession, now);
    if (to !== null && /^-|\s/.test(to)) return '/fork takes a name, --at <seq> and --summary';
    return /(^|\s)--summary(?=\s|$)/.test(args)
      ? intended(state, { do: 'fork-summary', to, at, keep: keptMessages })
      : only(state, { do: 'fork-session', of: state.session, to, at });
  },
  copy: (state, args, now) => {
    const [given, wanted, number = '1'] = /^(?:(code)(?:\s+(\d+))?)?$/.exec(args.trim()) ?? [];
    if (given === undefined) return '/copy takes nothing, or code [n]: the n-th block of code from the end';
    const last = state.items.findLast((item) => item.kind === 'assistant');
    if (last?.kind !== 'assistant') return quiet(state, 'there is no answer to copy', now);
    if (wanted === undefined) return only(state, { do: 'copy', text: last.text });
    const blocks = [...last.text.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm)].map((match) => match[1] ?? '');
    const block = blocks.at(-Math.max(1, Number(number)));
    return block === undefined
      ? quiet(state, 'the last answer has no such code block', now)
      : only(state, { do: 'copy', text: block });
  },
  find: (state, args, _now, ruler) => startSearch({ ...state, pane: 'chat' }, ruler, named(args)),
  dump: (state, args) => {
    const turns = named(args);
    if (turns !== null && !/^\d+$/.test(turns)) return '/dump takes a number of turns';
    return only(state, { do: 'dump', turns: turns === null ? null : Number(turns) });
  },
  model: (state, args) =>
    named(args) === null
      ? opened(state, 'models')
      : only(state, { do: 'set-model', name: args.trim(), backend: '', save: false }),
  plan: (state, args, now, ruler) => planSlash(state, ruler, args, now),
  run: (state, args) => opened(state, 'run', named(args)),
  approvals: (state, args) => {
    const wanted = args.trim();
    if (wanted === 'forget') return only(state, { do: 'forget' });
    const there: State = { ...state, pane: 'approvals', reading: null };
    if (wanted === '') return only(there, ...answeredIn(there));
    const ask = namedAsk(state.approvals, wanted);
    return typeof ask === 'string' ? ask : only(there, ...answeredIn(there), { do: 'focus-ask', id: ask.id });
  },
  status: (state) => only(state, { do: 'report', what: 'status' }),
  doctor: (state) => only(state, { do: 'report', what: 'doctor' }),
  runs: (state) => opened(state, 'runs'),
  undo: (state, args) => intended(state, { do: 'undo', run_id: named(args) }),
  policy: (state, args) => {
    const wanted = policySlash(args);
    return typeof wanted === 'string' ? wanted : only(state, wanted);
  },
  usage: (state) => only(state, { do: 'report', what: 'usage' }),
  grants: (state) => opened(state, 'grants'),
  trust: (state) => only(state, { do: 'review-trust' }),
  tools: (state, args) => report(state, 'tools', args),
  mcp: (state, args) => report(state, 'mcp', args),
  chain: (state, args) =>
    named(args) === null ? report(state, 'chains', '') : intended(state, { do: 'chain', name: args.trim() }),
  image: (state, args) => intended(state, { do: 'image', path: args.trim() }),
  think: (state, args) => intended(state, { do: 'think', level: named(args) ?? 'auto' }),
  // The list of words is closed: another one was refused before.
  shell: (state, args, now) =>
    args.trim() === ''
      ? quiet(state, `the shell is ${state.facts.shell ? 'on: /shell off' : 'off: /shell on'}`, now)
      : intended(state, { do: 'shell', on: args.trim() === 'on' }),
  trim: (state, args) =>
    /^\d+$/.test(args.trim()) && Number(args) <= mostTrimmed
      ? intended(state, { do: 'trim', messages: Number(args.trim()) })
      : `/trim takes a number of messages up to ${mostTrimmed}; 0 = all`,
  compact: (state, args) => {
    const keep = named(args) ?? String(keptMessages);
    return /^\d+$/.test(keep)
      ? intended(state, { do: 'compact', keep: Number(keep) })
      : '/compact takes the number of messages that stay';
  },
  export: (state, args) => {
    const [first = '', ...rest] = args.trim().split(/\s+/);
    const form = first === 'json' ? 'json' : 'md';
    const path = first === 'json' || first === 'md' ? named(rest.join(' ')) : named(args);
    return intended(state, { do: 'export', format: form, path, force: false });
  },
  theme: (state, args, now) => {
    const words = args.trim().split(/\s+/);
    const [name, ...others] = words.filter((word) => word !== '' && word !== '--save');
    if (others.length > 0) return '/theme takes a name and --save';
    return name === undefined
      ? quiet(state, `themes: ${Object.keys(themes).join(', ')}, or one of your own`, now)
      : intended(state, { do: 'theme', name, save: words.includes('--save') });
  },
  // The list of words is closed: another one was refused before.
  notify: (state, args) => intended(state, { do: 'notify', way: args.trim() as NotifyWay }),
  abandon: (state) => only(state, { do: 'abandon' }),
  quit: (state) => only(state, { do: 'quit' }),
};
const aliases: Readonly<Record<string, string>> = { exit: 'quit', cost: 'usage', asks: 'approvals' };

/** The help with what fits a word: of a key, a command, or a context. */
const helpAbout = (state: State, word: string): Change => {
  const change = opened(state, 'help');
  const overlays = change.state.overlays.map((overlay) =>
    overlay.kind === 'help' ? { ...overlay, query: word.trim(), field: filledField(word.trim()) } : overlay,
  );
  return { ...change, state: { ...change.state, overlays } };
};

const filledField = (text: string): Field => ({ ...filterField, editing: typeText(emptyEditing, text) });

const shownText = (state: State, title: string, lines: readonly string[]): Change =>
  only({ ...state, overlays: [...state.overlays, { kind: 'explain', title, lines, at: 0 }] });

const commandHelp = ({ name, args, help, aliases, idleOnly }: SlashCommand): readonly string[] => [
  `/${name} ${args}`.trim(),
  help,
  ...(aliases.length === 0 ? [] : [`also ${aliases.map((alias) => `/${alias}`).join(', ')}`]),
  ...(idleOnly ? ['not while a turn is running'] : []),
];

/** Does what a slash command says. @returns a string where its arguments say nothing that could be done */
export function runSlash(state: State, ruler: Ruler, name: string, args: string, now: number): Change | string {
  const slash = commands[aliases[name] ?? name];
  return slash === undefined
    ? quiet(state, `/${name} has nothing to work on yet`, now)
    : slash(state, args, now, ruler);
}
