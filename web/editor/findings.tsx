import type { DocumentFinding } from '../../src/schema/document-views.ts';
import { numbered } from '../parts/numbered.ts';
import { Safe } from '../parts/safe.tsx';

/** What was found in a document; each leads to its place. */
export function Findings({
  findings,
  onGo,
}: {
  readonly findings: readonly DocumentFinding[];
  readonly onGo: (path: string) => void;
}) {
  if (findings.length === 0) {
    return (
      <p className="small muted" role="status">
        No findings.
      </p>
    );
  }
  return (
    <ul className="findings" aria-label="Findings">
      {numbered(findings).map(({ key, part: { severity, path, message } }) => (
        <li key={key}>
          <button type="button" className="finding" onClick={() => onGo(path)}>
            <span className={`tag ${severity === 'error' ? 'danger' : 'warn'}`}>{severity}</span>
            <span className="mono">{path === '' ? 'document' : path}</span>
            <span className="wrap">
              <Safe text={message} />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
