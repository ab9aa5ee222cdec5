import type { AskCardData } from '../../src/schema/ask-views.ts';
import { Safe } from '../parts/safe.tsx';
import { budgetOf, ruleWords, warningOf } from './card-facts.ts';
import { Fact } from '../parts/fact.tsx';

/** What to know before it is approved. */
export function Warnings({ card: { again, flags, why } }: { readonly card: AskCardData }) {
  if (flags.length === 0 && again.length === 0 && !why.changed) return null;
  return (
    <ul className="warnings">
      {again.map((said) => (
        <li key={said}>
          <Safe text={said} />
        </li>
      ))}
      {why.changed ? <li>The policy changed since this was asked.</li> : null}
      {flags.map((flag) => (
        <li key={flag}>{warningOf(flag)}</li>
      ))}
    </ul>
  );
}

/** Why it asks, what it touches, where it comes from and what an approval is good for. */
export function Reasons({ card, cwd }: { readonly card: AskCardData; readonly cwd: string }) {
  const { why, who, paths } = card;
  return (
    <dl className="facts card-facts">
      <Fact label="Why">
        {ruleWords(card)} <Safe text={why.policy.name} />{' '}
        <span className="mono">
          ({why.policy.source}
          {why.policy.sha256 === null ? '' : `, ${why.policy.sha256.slice(0, 8)}`})
        </span>
        {why.note === null ? null : (
          <>
            {': '}
            <Safe text={why.note} />
          </>
        )}
      </Fact>
      {why.detail === null || budgetOf(card) !== null ? null : (
        <Fact label="Reason">
          <Safe text={why.detail} />
        </Fact>
      )}
      {why.reserved === null ? null : (
        <Fact label="Each time">
          <Safe text={why.reserved} />
        </Fact>
      )}
      {paths.map((path) => (
        <Fact key={path.given} label="Path">
          <span className="mono">
            <Safe text={path.given} />
            {path.real === path.given ? null : (
              <>
                {' → '}
                <Safe text={path.real} />
              </>
            )}
          </span>
          {path.inside ? null : ' (outside the workspace)'}
          {path.link ? ' (through a link)' : ''}
        </Fact>
      ))}
      <Fact label="In">
        <span className="mono">
          <Safe text={cwd} />
        </span>
      </Fact>
      <Fact label="From">
        <Safe
          text={[
            who.session === null ? null : `session ${who.session}`,
            who.plan === null ? null : `plan ${who.plan}, step ${who.step ?? '-'}`,
            who.chain === null ? null : `chain ${who.chain}`,
            who.task === null ? null : `task ${who.task}`,
            who.model === null ? null : `${who.model} at ${who.backend ?? '-'}`,
            `${card.what.tools}.${card.what.tool}`,
          ]
            .filter((part) => part !== null)
            .join(', ')}
        />
      </Fact>
      <Fact label="Binds">
        <span className="mono">{card.binding}</span>
      </Fact>
    </dl>
  );
}
