import type { AskHead } from '../../src/schema/ask-views.ts';
import { whatOf } from '../../src/view/what-of.ts';
import { Safe } from '../parts/safe.tsx';

const stateLook: Readonly<Record<AskHead['state'], string>> = {
  pending: 'warn',
  approved: 'good',
  answered: 'good',
  denied: 'danger',
  expired: '',
  cancelled: '',
};

/** `12:04:11`, with the day where it is not today. */
function clockOf(time: string): string {
  const at = new Date(time);
  const clock = at.toLocaleTimeString(undefined, { hour12: false });
  return at.toDateString() === new Date().toDateString() ? clock : `${at.toLocaleDateString()} ${clock}`;
}

/** What became of an ask: state, by whom, when (09 §8.6). */
export function Outcome({ ask }: { readonly ask: AskHead }) {
  const { verdict } = ask;
  return (
    <p className="outcome row" data-ask={ask.id} data-state={ask.state}>
      <span className={`tag ${stateLook[ask.state]}`}>{ask.state}</span>
      <span className="mono small">
        <Safe text={`${ask.tools}.${ask.tool}`} />
      </span>
      <span className="grow cut">
        <Safe text={whatOf(ask)} />
      </span>
      <span className="muted small">
        {verdict === null ? '' : `by ${verdict.by}, `}
        {clockOf(ask.resolved_at ?? ask.updated_at)}
        {verdict?.remember === undefined ? '' : ` · ${verdict.remember}`}
      </span>
      {verdict?.feedback === undefined ? null : (
        <span className="small wrap">
          “<Safe text={verdict.feedback} mode="prose" />”
        </span>
      )}
    </p>
  );
}
