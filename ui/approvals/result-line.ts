import type { Ask } from '../../src/schema/ask.ts';
import type { Glyphs } from '../../src/view/escape.ts';
import { formatClock } from '../../src/view/format.ts';
import { type Line, foreign, say } from '../../src/view/line.ts';
import { whatOf } from '../../src/view/what-of.ts';
import { cutLine } from '../../src/view/wrap.ts';

/** What became of an ask, in one row (10 §7.6). */
export function resultLine(ask: Ask, mine: boolean, columns: number, glyphs: Glyphs): Line {
  const token = ask.state === 'approved' || ask.state === 'answered' ? 'ok' : 'danger';
  return cutLine(
    [
      say('- ', 'dim'),
      ...foreign(verdictWords(ask, mine), glyphs, token),
      ...foreign(` · ${ask.tools}.${ask.tool} ${whatOf(ask)}`, glyphs, 'dim'),
    ],
    columns,
  );
}

const treatedWords = { run_again: 'let run again', done: 'treated as done', skip: 'skipped' } as const;

/** `approved`, in the table of what was answered. */
export const verdictOf = ({ state, verdict }: Ask): string =>
  verdict?.edited !== undefined ? 'edited' : verdict?.treat_as === undefined ? state : treatedShort[verdict.treat_as];
const treatedShort = { run_again: 'again', done: 'done', skip: 'skipped' } as const;

/** `approved 10:02:11 by you · this session`. */
export function verdictWords(ask: Ask, mine: boolean): string {
  const at = formatClock(ask.resolved_at ?? ask.updated_at);
  const remember = ask.verdict?.remember === undefined ? '' : ` ${keptWords(ask, ask.verdict.remember)}`;
  const treated = ask.verdict?.treat_as;
  // The row is closed by the system, since the call that it asked about will not run.
  const edited = ask.verdict?.edited;
  if (edited !== undefined) return `edited ${at} by ${mine ? 'you' : edited.by}`;
  if (treated !== undefined) return `${treatedWords[treated]} ${at} by ${mine ? 'you' : ask.verdict?.by}`;
  if (ask.state === 'expired') return `expired ${at}, denied`;
  return `${ask.state} ${at} by ${mine ? 'you' : (ask.verdict?.by ?? 'system')}${remember}`;
}

function keptWords({ session_id }: Ask, remember: 'session' | 'edits' | 'rule'): string {
  if (remember === 'rule') return 'with a new rule';
  const until = `this ${session_id === null ? 'run' : 'session'}`;
  return remember === 'edits' ? `with edits here ${until}` : `for ${until}`;
}
