import { useEffect, useState } from 'react';
import { formatRemaining } from '../../src/view/format.ts';

/** The time, again each second, or each minute while that is enough. */
function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** What is left of a deadline, and what happens then. */
export function Countdown({
  expiresAt,
  onTimeout,
}: {
  readonly expiresAt: string | null;
  readonly onTimeout: string | null;
}) {
  const end = expiresAt === null ? null : Date.parse(expiresAt);
  const now = useNow(end !== null && end - Date.now() < 3_600_000 ? 1000 : 60_000);
  if (end === null) return <span className="tag">waits for ever</span>;
  const left = end - now;
  const then = onTimeout === null || onTimeout === 'deny' ? 'then counts as denied' : `then ${onTimeout}`;
  return (
    <span className={`tag ${left < 60_000 ? 'danger' : 'warn'}`}>
      {formatRemaining(left)}, {then}
    </span>
  );
}
