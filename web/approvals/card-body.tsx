import type { ReactNode } from 'react';
import type { AskCardData } from '../../src/schema/ask-views.ts';
import { DiffLines } from '../parts/code-block.tsx';
import { numbered } from '../parts/numbered.ts';
import { Escaped, Safe } from '../parts/safe.tsx';
import { argumentLines, budgetOf, commandText, otherArgs, ruleWords, segmentsOf, warningOf } from './card-facts.ts';
import { Fold, foldedLines } from './folds.tsx';

export type CardPart = { readonly id: string; readonly total: number };

/** The parts of a card that may be folded, with how many lines each has. */
export function foldsOf(card: AskCardData): readonly CardPart[] {
  return [
    { id: 'segments', total: segmentsOf(card).length },
    ...(card.diff === null ? [] : [{ id: 'diff', total: diffLines(card.diff.text).length }]),
    ...otherArgs(card).map(({ name, value }) => ({ id: `arg ${name}`, total: argumentLines(value).length })),
  ];
}

const diffLines = (text: string): readonly string[] => text.replace(/\n$/, '').split('\n');

/** Everything above the buttons, in the order of 09 §8.7. Facts of the runtime first, what others say below them. */
export function CardBody({
  card,
  cwd,
  question,
  isOpen,
  onOpen,
}: {
  readonly card: AskCardData;
  readonly cwd: string;
  readonly question: { readonly text: string; readonly detail?: string } | null;
  readonly isOpen: (id: string) => boolean;
  readonly onOpen: (id: string) => void;
}) {
  const segments = segmentsOf(card);
  const { diff, url, why, who, paths } = card;
  const budget = budgetOf(card);
  const shown = <T,>(id: string, lines: readonly T[]): readonly T[] =>
    isOpen(id) ? lines : lines.slice(0, foldedLines);
  return (
    <>
      {segments.length === 0 ? null : (
        <Fold label="Runs" total={segments.length} open={isOpen('segments')} onOpen={() => onOpen('segments')}>
          <ol className="segments">
            {numbered(isOpen('segments') ? segments : segments.slice(0, foldedLines)).map(({ key, part }) => (
              <li key={key}>
                <code className="wrap">
                  <Safe text={commandText(part.words)} mode="line" />
                </code>
                <span className="small muted">
                  {part.program === null ? (
                    <b className="fault">program not resolved</b>
                  ) : (
                    <span className="mono">
                      <Safe text={part.program} />
                    </span>
                  )}
                  {part.revealed ? ' · started by the command before it' : null}
                  {part.covered_by === null ? null : (
                    <>
                      {' · covered by '}
                      <Safe text={part.covered_by} />
                    </>
                  )}
                  {part.why === null ? null : (
                    <>
                      {' · '}
                      <Safe text={part.why} />
                    </>
                  )}
                </span>
              </li>
            ))}
          </ol>
        </Fold>
      )}
      {diff === null ? null : (
        <Fold
          label={diff.new_file ? 'New file' : 'Change'}
          total={diffLines(diff.text).length}
          open={isOpen('diff')}
          onOpen={() => onOpen('diff')}
        >
          <pre className="card-text">
            <DiffLines lines={shown('diff', diffLines(diff.text))} />
          </pre>
          {[diff.made, diff.note].map((said) =>
            said === null ? null : (
              <p key={said} className="small">
                <Safe text={said} />
              </p>
            ),
          )}
        </Fold>
      )}
      {url === null ? null : (
        <dl className="facts card-facts">
          <Fact label="Address">
            <span className="mono">
              <Safe text={`${url.method} ${url.scheme}://${url.host}:${url.port}${url.path}`} />
            </span>
          </Fact>
        </dl>
      )}
      {question !== null ? (
        <div className="says">
          <h3>The model says</h3>
          <p className="wrap">
            <Safe text={question.text} mode="prose" />
          </p>
          {question.detail === undefined ? null : (
            <p className="wrap small">
              <Safe text={question.detail} mode="prose" />
            </p>
          )}
        </div>
      ) : budget !== null ? (
        <dl className="facts card-facts">
          <Fact label="Bound">
            <Safe text={budget.bound} />
          </Fact>
          <Fact label="Used">
            <Safe text={budget.used} />
          </Fact>
          <Fact label="Grant">
            <Safe text={budget.grant} />
          </Fact>
        </dl>
      ) : (
        otherArgs(card).map(({ name, value }) => {
          const lines = argumentLines(value);
          const id = `arg ${name}`;
          return (
            <Fold key={id} label={`arg ${name}`} total={lines.length} open={isOpen(id)} onOpen={() => onOpen(id)}>
              <pre className="card-text">
                {numbered(shown(id, lines)).map(({ key, part }) => (
                  <span key={key}>
                    <Escaped text={part} />
                    {'\n'}
                  </span>
                ))}
              </pre>
            </Fold>
          );
        })
      )}
      {card.flags.length === 0 && card.again.length === 0 && !why.changed ? null : (
        <ul className="warnings">
          {card.again.map((said) => (
            <li key={said}>
              <Safe text={said} />
            </li>
          ))}
          {why.changed ? <li>The policy changed since this was asked.</li> : null}
          {card.flags.map((flag) => (
            <li key={flag}>{warningOf(flag)}</li>
          ))}
        </ul>
      )}
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
        {why.detail === null || budget !== null ? null : (
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
              who.chain === null ? null : `chain ${who.chain}`,
              who.task === null ? null : `task ${who.task}`,
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
      {card.tool_says === null ? null : (
        <div className="says">
          <h3>The tool says of itself</h3>
          <p className="wrap small">
            <Safe text={card.tool_says} mode="prose" />
          </p>
        </div>
      )}
    </>
  );
}

const Fact = ({ label, children }: { readonly label: string; readonly children: ReactNode }) => (
  <div className="facts-row">
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
);
