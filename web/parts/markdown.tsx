import { lazy, memo, Suspense, useMemo } from 'react';
import { blocksOf } from './markdown-blocks.ts';
import { numbered } from './numbered.ts';
import { Safe } from './safe.tsx';

const Body = lazy(() => import('./markdown-body.tsx').then(({ MarkdownBody }) => ({ default: MarkdownBody })));

/** One block. It is parsed once, however much text follows it. */
const Block = memo(({ text }: { readonly text: string }) => <Body text={text} />);

/**
 * Prose of a model: Markdown without raw HTML, without images, links in full (09 §8.1). A text that grows is parsed from
 * its last open block on.
 */
export function Markdown({ text }: { readonly text: string }) {
  const blocks = useMemo(() => numbered(blocksOf(text)), [text]);
  const plain = (
    <p className="wrap">
      <Safe text={text} mode="prose" />
    </p>
  );
  return (
    <div className="prose">
      <Suspense fallback={plain}>
        {blocks.map(({ key, part }) => (
          <Block key={key} text={part} />
        ))}
      </Suspense>
    </div>
  );
}
