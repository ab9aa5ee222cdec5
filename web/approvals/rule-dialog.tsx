import { useRef, useState } from 'react';
import { client } from '../data/client.ts';
import { useData } from '../data/use-data.ts';
import { Button } from '../parts/button.tsx';
import { CodeBlock } from '../parts/code-block.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Safe } from '../parts/safe.tsx';
import { Loaded } from '../parts/states.tsx';
import type { ChoiceProps } from './choice-props.ts';
import { useGuard } from './guard.ts';
import { GuardHint } from './guard-hint.tsx';

/** Rules that would have let the call through, narrowest first, each as it would be written (03 §9). */
export function RuleDialog({
  ask,
  onAnswer,
  onClose,
}: Pick<ChoiceProps, 'ask' | 'onAnswer'> & { readonly onClose: () => void }) {
  const preview = useData(`rules ${ask.id}`, () => client.previewRules({ id: ask.id }));
  const [chosen, choose] = useState<number | null>(null);
  const element = useRef<HTMLDivElement>(null);
  const guard = useGuard(element, `${chosen}`);
  const candidate = chosen === null ? undefined : preview.value?.candidates[chosen];
  const add = () => {
    if (candidate === undefined || chosen === null) return;
    void onAnswer({ outcome: 'approve', remember: 'rule', rule: chosen, rule_sha256: candidate.sha256 }).then(onClose);
  };
  const onKey = (key: string) => {
    if (key === 'a' && candidate !== undefined) guard.key(add);
  };
  return (
    <Dialog title="Add a rule" onClose={onClose} onKey={onKey}>
      <div ref={element} className="stack">
        <Loaded data={preview}>
          {({ candidates, none }) =>
            candidates.length === 0 ? (
              <p>{none === null ? 'No rule would let this call through.' : `No rule is offered: ${none}.`}</p>
            ) : (
              <fieldset className="candidates">
                <legend className="small muted">Narrowest first. The call is approved when the rule is written.</legend>
                {candidates.map((each, index) => (
                  <label key={each.sha256} className="candidate">
                    <span className="row">
                      <input type="radio" name="candidate" checked={chosen === index} onChange={() => choose(index)} />
                      <b>{index === 0 ? 'Narrowest' : index === 1 ? 'Wider' : 'Widest'}</b>
                    </span>
                    <CodeBlock text={JSON.stringify(each.rule, null, 2)} label={`Rule ${index + 1}`} />
                    <span className="small">
                      Into{' '}
                      <span className="mono">
                        <Safe text={each.file} />
                      </span>{' '}
                      as rule {each.position + 1}
                      {each.creates_file ? ' (a copy of the policy is made there)' : ''}. Would also have allowed{' '}
                      {each.would_have_allowed.count} of the last {each.would_have_allowed.of} recorded calls.
                    </span>
                  </label>
                ))}
              </fieldset>
            )
          }
        </Loaded>
        <div className="dialog-foot">
          <GuardHint guard={guard} />
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={candidate === undefined} {...guard.press(add, 'dialog')}>
            Add the rule and approve <kbd className="mono">a</kbd>
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
