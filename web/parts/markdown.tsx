import { lazy, memo, Suspense, useEffect, useMemo, useState } from 'react';
import { formatCount } from '../../src/view/format.ts';
import { Button } from './button.tsx';
import { blocksOf } from './markdown-blocks.ts';
import { numbered } from './numbered.ts';
import { Safe } from './safe.tsx';

const Body = lazy(() => import('./markdown-body.tsx').then(({ MarkdownBody }) => ({ default: MarkdownBody })));

/** One block. It is parsed once, however much text follows it. */
const Block = memo(({ text }: { readonly text: string }) => <Body text={text} />);

/** Characters that are shown before more are asked for: a megabyte keeps a browser from everything else for seconds. */
const portion = 50_000;

/** As much of a text as fits, to the end of a line where one is near. */
function beginningOf(text: string, most: number): string {
  if (text.length <= most) return text;
  const line = text.lastIndexOf('\n', most);
  return text.slice(0, line > most - portion / 2 ? line + 1 : most).toWellFormed();
}

/**
 * Prose of a model: Markdown without raw HTML, without images, links in full (09 §8.1). A text that grows is parsed from
 * its last open block on. A long one is shown in portions.
 */
export function Markdown({
  text,
  find = null,
}: {
  readonly text: string;
  /** What is to be seen of it, however far down it stands. */
  readonly find?: RegExp | null;
}) {
  const [portions, setPortions] = useState(1);
  const shown = beginningOf(text, portions * portion);
  const left = text.length - shown.length;
  useEffect(() => {
    if (left > 0 && find?.test(text.slice(-left)) === true) setPortions(Number.POSITIVE_INFINITY);
  }, [find, text, left]);
  const blocks = useMemo(() => numbered(blocksOf(shown)), [shown]);
  const plain = (
    <p className="wrap">
      <Safe text={shown} mode="prose" />
    </p>
  );
  return (
    <>
      <div className="prose">
        <Suspense fallback={plain}>
          {blocks.map(({ key, part }) => (
            <Block key={key} text={part} />
          ))}
        </Suspense>
      </div>
      {left === 0 ? null : (
        <div>
          <Button size="small" look="quiet" onClick={() => setPortions(portions + 1)}>
            Show more: {formatCount(left)} characters are left
          </Button>
        </div>
      )}
    </>
  );
}
