import type { RememberedChoice } from '../../src/schema/ask.ts';
import type { PlanHead } from '../../src/schema/plan.ts';
import type { RunSummary } from '../../src/schema/run-record.ts';
import type { ModelRow } from '../../src/schema/registry.ts';
import type { Session } from '../../src/schema/session.ts';
import { grantWords } from '../../src/view/grant-words.ts';
import { fuzzyBest } from '../composer/fuzzy.ts';
import { slashCommands } from '../composer/slash-commands.ts';
import { shownKey } from '../keys/key.ts';
import type { State } from '../state.ts';
import type { Overlay } from './overlay.ts';

/** What the palette offers: a command of a key, or one of the composer. */
export type PaletteRow = {
  readonly id: string;
  readonly words: string;
  /** Where there is room for more. */
  readonly detail: string;
  readonly keys: string;
  readonly slash: string;
};

const most = 500;
/** With a filter: what matches, best first. */
const filtered = <T>(query: string, rows: readonly T[], text: (row: T) => string): readonly T[] =>
  query === '' ? rows : fuzzyBest(query, rows, text, most);

/** Sessions by their names, and behind them those in which it was said. A passage stands with each that has one. */
export function sessionRows({ query, rows, said }: Extract<Overlay, { kind: 'sessions' }>): readonly Session[] {
  const named = filtered(query, rows ?? [], (row) => row.name);
  if (said === undefined || said.query !== query.trim()) return named;
  const known = new Set(named);
  const others = (rows ?? []).filter((row) => said.passages.has(row.id) && !known.has(row));
  const order = [...said.passages.keys()];
  others.sort((one, other) => order.indexOf(one.id) - order.indexOf(other.id));
  return [...named, ...others].map((row) => {
    const passage = said.passages.get(row.id);
    return passage === undefined ? row : { ...row, said: passage };
  });
}

export const modelRows = (overlay: Extract<Overlay, { kind: 'models' }>): readonly ModelRow[] =>
  filtered(overlay.query, overlay.rows ?? [], (row) => `${row.model} ${row.backend}`);

export const planRows = (overlay: Extract<Overlay, { kind: 'plans' }>): readonly PlanHead[] =>
  filtered(overlay.query, overlay.rows ?? [], (row) => `${row.name} ${row.goal}`);

export const runRows = (overlay: Extract<Overlay, { kind: 'runs' }>): readonly RunSummary[] =>
  filtered(
    overlay.query,
    overlay.rows ?? [],
    (row) => `${row.id} ${row.status} ${row.session ?? row.kind} ${row.input}`,
  );

export const grantRows = (overlay: Extract<Overlay, { kind: 'grants' }>): readonly RememberedChoice[] =>
  filtered(overlay.query, overlay.rows ?? [], grantWords);

/** What is a command wherever one is; `own` adds those of the pane that is open. Moving and leaving need no list. */
const offered = /^(?:app\.(?!palette|interrupt|end-of-input|abort)|composer\.(?:resend|editor|history-search)$)/;
const own: Readonly<Record<State['pane'], RegExp>> = {
  chat: /^transcript\./,
  plan: /^plan\.(?!up|down|page|top|bottom|pane)/,
  approvals: /^approvals\.(?:group|history|filter)/,
};

/** A key and a command of the composer that do the same. */
const twins: Readonly<Record<string, string>> = {
  'app.help': 'help',
  'app.sessions': 'sessions',
  'app.models': 'model',
  'app.run-details': 'run',
  'app.approvals': 'approvals',
  'app.plan': 'plan',
  'app.quit': 'quit',
  'composer.editor': 'edit',
};

/** Every command that can be used now, each once (10 §9). */
export function paletteRows(
  overlay: Pick<Extract<Overlay, { kind: 'palette' }>, 'query'>,
  { keys, pane, turn }: Pick<State, 'keys' | 'pane' | 'turn'>,
): readonly PaletteRow[] {
  const helpOf = new Map(slashCommands.map(({ name, help }) => [name, help]));
  const ofKeys = keys.commands.filter(({ id }) => offered.test(id) || own[pane].test(id));
  const rows: PaletteRow[] = [
    ...ofKeys.map(({ id, help, keys: bound }) => {
      const twin = twins[id];
      return {
        id,
        words: id === 'app.help' ? 'help' : help,
        detail: twin === undefined ? '' : (helpOf.get(twin) ?? ''),
        keys: bound[0] === undefined ? '' : shownKey(bound[0]),
        slash: twin === undefined ? '' : `/${twin}`,
      };
    }),
    ...slashCommands
      .filter(({ name, idleOnly }) => !Object.values(twins).includes(name) && !(idleOnly && turn !== null))
      .map(({ name, args, help }) => ({ id: `/${name}`, words: help, detail: args, keys: '', slash: `/${name}` })),
  ];
  return filtered(overlay.query, rows, (row) => `${row.words} ${row.slash} ${row.detail}`);
}
