import { isTelling, triedLines, verdictLine, whyLines } from '../../src/view/explanation.ts';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { Dialog } from '../parts/dialog.tsx';
import { numbered } from '../parts/numbered.ts';
import { Safe } from '../parts/safe.tsx';
import { Loaded } from '../parts/states.tsx';

/** Why it was asked, rule by rule, as it would be decided now (02 §14.2). */
export function ExplainDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const explained = useData(`explain ${id}`, () => client.explainApproval({ id }));
  return (
    <Dialog title="Why this was asked" onClose={onClose}>
      <Loaded data={explained}>
        {({ now }) => {
          const passed = now.tried.filter((rule) => !isTelling(rule));
          return (
            <>
              <p className="note mono small">
                <Safe text={verdictLine(now.record)} />
              </p>
              <Trace lines={whyLines(now, now.tried.filter(isTelling))} />
              {passed.length === 0 ? null : (
                <details>
                  <summary className="small">
                    {passed.length} {passed.length === 1 ? 'rule that does' : 'rules that do'} not fit
                  </summary>
                  <Trace lines={triedLines(passed)} />
                </details>
              )}
            </>
          );
        }}
      </Loaded>
    </Dialog>
  );
}

const Trace = ({ lines }: { readonly lines: readonly string[] }) => (
  <ul className="trace mono small">
    {numbered(lines).map(({ key, part }) => (
      <li key={key}>
        <Safe text={part} />
      </li>
    ))}
  </ul>
);
