import type { ReactNode } from 'react';
import type { RuntimeError } from '../../src/schema/errors.ts';
import type { Data } from '../data/use-data.ts';
import { Button } from './button.tsx';
import { Safe } from './safe.tsx';

/** Stands in for what is being read; nothing is seen of it in the first 150 ms. */
export const Skeleton = () => (
  <div className="skeleton" aria-hidden="true">
    <i />
    <i />
    <i />
  </div>
);

/** What this is, in one sentence, and one thing to do. */
export const Empty = ({ children, action }: { readonly children: ReactNode; readonly action?: ReactNode }) => (
  <div className="empty">
    <p>{children}</p>
    {action}
  </div>
);

/** A refusal in full: message, code, request id, and a way on. */
export function ErrorNote({
  error,
  onRetry,
}: {
  readonly error: RuntimeError;
  readonly onRetry?: (() => void) | undefined;
}) {
  const data = Object(error.data);
  const code: unknown = Reflect.get(data, 'code');
  const request: unknown = Reflect.get(data, 'requestId');
  return (
    <div className="note danger stack tight" role="alert">
      {/* It may tell what a file, a model or an address says. */}
      <p className="wrap">
        <Safe text={error.message} mode="prose" />
      </p>
      <p className="row small muted">
        <span className="mono">{typeof code === 'string' ? code : error.code}</span>
        {typeof request === 'string' ? <span className="mono">request {request}</span> : null}
        {onRetry === undefined ? null : (
          <Button size="small" onClick={onRetry}>
            Try again
          </Button>
        )}
      </p>
    </div>
  );
}

/** What was read, with the states before and beside it (09 §8.2). */
export function Loaded<T>({
  data,
  beside = false,
  children,
}: {
  readonly data: Data<T>;
  /** It stands beside what the page is about, which says for both that the connection is lost. */
  readonly beside?: boolean;
  readonly children: (value: T) => ReactNode;
}) {
  const { value, error, stale, reload } = data;
  return (
    <>
      {error === null || (stale && value !== null) ? null : <ErrorNote error={error} onRetry={reload} />}
      {stale && !beside && value !== null ? (
        <p className="note warn small">as it was before the connection was lost</p>
      ) : null}
      {value === null ? error === null ? <Skeleton /> : null : children(value)}
    </>
  );
}
