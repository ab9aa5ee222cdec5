import type { RememberedChoice } from '../../src/schema/ask.ts';
import type { PlanHead } from '../../src/schema/plan.ts';
import type { RunSummary } from '../../src/schema/run-record.ts';
import type { ModelRow } from '../../src/schema/registry.ts';
import type { Session } from '../../src/schema/session.ts';
import { fuzzyBest } from '../composer/fuzzy.ts';
import { slashCommands } from '../composer/slash-commands.ts';
import { shownKey } from '../keys/key.ts';
import type { KeyMap } from '../keys/key-map.ts';
import type { Overlay } from './overlay.ts';

/** What the palette offers: a command of a key, or one of the composer. */
export type PaletteRow = {
  readonly id: string;
  readonly words: string;
  readonly keys: string;
  readonly slash: string;
};

const most = 500;
/** With a filter: what matches, best first. */
const filtered = <T>(query: string, rows: readonly T[], text: (row: T) => string): readonly T[] =>
  query === '' ? rows : fuzzyBest(query, rows, text, most);

export const sessionRows = (overlay: Extract<Overlay, { kind: 'sessions' }>): readonly Session[] =>
  filtered(overlay.query, overlay.rows ?? [], (row) => row.name);

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
  filtered(overlay.query, overlay.rows ?? [], (row) => row.what);

/** Keys that only move within what is open are no commands to look for. */
const offered = /^(?:app|composer\.(?:resend|editor|history-search)|transcript)\b/;

export function paletteRows(overlay: Extract<Overlay, { kind: 'palette' }>, keys: KeyMap): readonly PaletteRow[] {
  const rows: PaletteRow[] = [
    ...keys.commands
      .filter(({ id }) => offered.test(id) && id !== 'app.palette')
      .map(({ id, help, keys: bound }) => ({
        id,
        words: help,
        keys: bound[0] === undefined ? '' : shownKey(bound[0]),
        slash: '',
      })),
    ...slashCommands.map((command) => ({
      id: `/${command.name}`,
      words: command.help,
      keys: '',
      slash: `/${command.name}`,
    })),
  ];
  return filtered(overlay.query, rows, (row) => `${row.words} ${row.slash}`);
}
