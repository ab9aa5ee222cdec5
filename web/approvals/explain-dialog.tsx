import { verdictLine, whyLines } from '../../src/view/explanation.ts';
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
        {({ now }) => (
          <>
            <p className="note mono small">
              <Safe text={verdictLine(now.record)} />
            </p>
            <ul className="trace mono small">
              {numbered(whyLines(now)).map(({ key, part }) => (
                <li key={key}>
                  <Safe text={part} />
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
