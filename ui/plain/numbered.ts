import { grantWords } from '../../src/view/grant-words.ts';
import { formatAge, plural } from '../../src/view/format.ts';
import { runTitle } from '../../src/view/run-title.ts';
import type { Overlay } from '../overlays/overlay.ts';
import { grantRows, modelRows, planRows, runRows, sessionRows } from '../overlays/rows.ts';
import type { State } from '../state.ts';

/** A list to choose from by number (10 §10): what its rows say, in sentences instead of columns. */
export type Numbered = { readonly title: string; readonly rows: readonly string[] };

/** Rows that are read before a number is asked for; a filter finds the others. */
const mostRows = 50;

/** @returns null for what is no list, or is not read yet */
export function numbered(overlay: Overlay, state: State): Numbered | null {
  const rows = rowsOf(overlay, state);
  return rows === null ? null : { title: titles[overlay.kind] ?? '', rows: rows.slice(0, mostRows) };
}

const titles: Readonly<Partial<Record<Overlay['kind'], string>>> = {
  sessions: 'Sessions',
  models: 'Models',
  plans: 'Plans',
  runs: 'Runs',
  grants: 'Allowed for this session',
};

function rowsOf(overlay: Overlay, state: State): readonly string[] | null {
  const ago = (at: string): string => formatAge(state.now - Date.parse(at));
  const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(', ');
  switch (overlay.kind) {
    case 'sessions':
      if (overlay.rows === null) return null;
      return sessionRows(overlay).map((row) =>
        joined(
          row.name,
          row.name === state.session?.name ? 'open now' : '',
          plural(row.message_count, 'message'),
          ago(row.last_message_at ?? row.created_at),
          row.suspended_run_id !== null ? 'a run is suspended' : row.active_run_id !== null ? 'a run is alive' : '',
        ),
      );
    case 'models':
      if (overlay.rows === null) return null;
      return modelRows(overlay).map((row) =>
        joined(
          `${row.model} on ${row.backend}`,
          row.is_default ? 'the default' : '',
          row.context === null ? '' : `${row.context} tokens of context`,
          row.state === 'served' ? '' : `not available: ${row.reason ?? row.state}`,
        ),
      );
    case 'plans':
      if (overlay.rows === null) return null;
      return planRows(overlay).map((row) =>
        joined(row.name, row.active ? 'the active one' : '', `${row.done} of ${row.total} done`, row.status),
      );
    case 'runs':
      if (overlay.rows === null) return null;
      return runRows(overlay).map((row) =>
        joined(row.id.slice(-6), row.status, ago(row.created_at), row.session ?? row.kind, runTitle(row)),
      );
    case 'grants':
      if (overlay.rows === null) return null;
      return grantRows(overlay).map((row) => joined(grantWords(row), ago(row.created_at)));
    default:
      return null;
  }
}
