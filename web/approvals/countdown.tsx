import type { AskHead } from '../../src/schema/ask-views.ts';
import { formatRemaining } from '../../src/view/format.ts';
import { useNow } from '../data/use-now.ts';

/** What an ask counts as that nobody has answered in time (03 §4). */
const then: Readonly<Record<AskHead['kind'], string>> = {
  permission: 'counts as denied',
  budget: 'counts as denied',
  question: 'counts as not answered',
  unknown_outcome: 'counts as skipped',
};

/** What is left of a deadline, and what happens then. */
export function Countdown({ expiresAt, kind }: { readonly expiresAt: string | null; readonly kind: AskHead['kind'] }) {
  const end = expiresAt === null ? null : Date.parse(expiresAt);
  // Each minute while that is enough.
  const now = useNow(end !== null && end - Date.now() < 3_600_000 ? 1000 : 60_000);
  if (end === null) return <span className="tag">waits for ever</span>;
  const left = end - now;
  return (
    <span className={`tag ${left < 60_000 ? 'danger' : 'warn'}`}>
      {formatRemaining(left)}, then {then[kind]}
    </span>
  );
}
