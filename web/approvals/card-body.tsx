import type { AskCardData } from '../../src/schema/ask-views.ts';
import type { BudgetWords } from '../../src/view/budget.ts';
import { DiffLines } from '../parts/code-block.tsx';
import { numbered } from '../parts/numbered.ts';
import { Escaped, Safe } from '../parts/safe.tsx';
import { argumentLines, budgetOf, commandText, otherArgs, segmentsOf } from './card-facts.ts';
import { Reasons, Warnings } from './card-reasons.tsx';
import { Fact } from '../parts/fact.tsx';
import { Fold, foldedLines } from './folds.tsx';
import { sendsLine, unicodeLine } from '../../src/view/card-url.ts';

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

type Question = { readonly text: string; readonly detail?: string };
/** Which parts are shown whole, and what unfolds one. */
type Folds = { readonly isOpen: (id: string) => boolean; readonly onOpen: (id: string) => void };
type PartProps = { readonly card: AskCardData; readonly folds: Folds };

/** Everything above the buttons, in the order of 09 §8.7. Facts of the runtime first, what others say below them. */
export function CardBody({
  card,
  cwd,
  question,
  ...folds
}: {
  readonly card: AskCardData;
  readonly cwd: string;
  readonly question: Question | null;
} & Folds) {
  const { url } = card;
  const sends = url === null ? null : sendsLine(url);
  const unicode = url === null ? null : unicodeLine(url);
  const budget = budgetOf(card);
  return (
    <>
      <Segments card={card} folds={folds} />
      <Change card={card} folds={folds} />
      {url === null ? null : (
        <dl className="facts card-facts">
          <Fact label="Address">
            <span className="mono">
              <Safe text={`${url.method} ${url.scheme}://${url.host}:${url.port}${url.path}`} />
            </span>
            {unicode === null ? null : (
              <>
                <br />
                <Safe text={unicode} />
              </>
            )}
          </Fact>
          {sends === null ? null : (
            <Fact label="Sends">
              <Safe text={sends} />
            </Fact>
          )}
        </dl>
      )}
      {question !== null ? (
        <ModelSays question={question} />
      ) : budget !== null ? (
        <SpentBound budget={budget} />
      ) : (
        <Arguments card={card} folds={folds} />
      )}
      <Warnings card={card} />
      <Reasons card={card} cwd={cwd} />
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

const shownOf = <T,>(folds: Folds, id: string, lines: readonly T[]): readonly T[] =>
  folds.isOpen(id) ? lines : lines.slice(0, foldedLines);

/** The commands of a line, each with its program and what covers it. */
function Segments({ card, folds }: PartProps) {
  const segments = segmentsOf(card);
  if (segments.length === 0) return null;
  return (
    <Fold label="Runs" total={segments.length} open={folds.isOpen('segments')} onOpen={() => folds.onOpen('segments')}>
      <ol className="segments">
        {numbered(shownOf(folds, 'segments', segments)).map(({ key, part }) => (
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
  );
}

function Change({ card: { diff }, folds }: PartProps) {
  if (diff === null) return null;
  const lines = diffLines(diff.text);
  return (
    <Fold
      label={diff.new_file ? 'New file' : 'Change'}
      total={lines.length}
      open={folds.isOpen('diff')}
      onOpen={() => folds.onOpen('diff')}
    >
      <pre className="card-text">
        <DiffLines lines={shownOf(folds, 'diff', lines)} />
      </pre>
      {[diff.made, diff.note].map((said) =>
        said === null ? null : (
          <p key={said} className="small">
            <Safe text={said} />
          </p>
        ),
      )}
    </Fold>
  );
}

const ModelSays = ({ question }: { readonly question: Question }) => (
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
);

const SpentBound = ({ budget }: { readonly budget: BudgetWords }) => (
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
);

const Arguments = ({ card, folds }: PartProps) =>
  otherArgs(card).map(({ name, value }) => {
    const lines = argumentLines(value);
    const id = `arg ${name}`;
    return (
      <Fold key={id} label={`arg ${name}`} total={lines.length} open={folds.isOpen(id)} onOpen={() => folds.onOpen(id)}>
        <pre className="card-text">
          {numbered(shownOf(folds, id, lines)).map(({ key, part }) => (
            <span key={key}>
              <Escaped text={part} />
              {'\n'}
            </span>
          ))}
        </pre>
      </Fold>
    );
  });
