import { useEffect, useState } from 'react';
import { markTrailing } from '../../src/view/card-parts.ts';
import { escapeText } from '../../src/view/escape.ts';
import { Button, CopyButton } from './button.tsx';
import { jsonText } from './json-text.ts';
import { numbered } from './numbered.ts';
import { Escaped, Safe } from './safe.tsx';

/** Lines that are shown before the rest is asked for. */
const firstLines = 40;

/** Text in the typeface of facts, escaped, with a button that copies the original. Long ones unfold. */
export function CodeBlock({
  text,
  label,
  lines = firstLines,
  find = null,
}: {
  readonly text: string;
  /** Name for screen readers, for what can be scrolled. */
  readonly label: string;
  /** How many are shown at first. */
  readonly lines?: number;
  /** What is to be seen of it, however far down it stands. */
  readonly find?: RegExp | null;
}) {
  const [all, setAll] = useState(false);
  const every = text.split('\n');
  useEffect(() => {
    if (find?.test(text.split('\n').slice(lines).join('\n')) === true) setAll(true);
  }, [find, text, lines]);
  const hidden = all ? 0 : Math.max(0, every.length - lines);
  const shown = hidden === 0 ? text : every.slice(0, lines).join('\n');
  return (
    <div className="stack tight">
      <div className="code wraps">
        <CopyButton text={text} what={label} />
        <section aria-label={label} tabIndex={-1}>
          <pre>
            <Safe text={shown} mode="prose" />
          </pre>
        </section>
      </div>
      {hidden === 0 ? null : (
        <div>
          <Button size="small" look="quiet" onClick={() => setAll(true)}>
            Show all {every.length} lines
          </Button>
        </div>
      )}
    </div>
  );
}

/** A value as indented JSON. */
export const JsonBlock = ({
  value,
  label,
  find = null,
}: {
  readonly value: unknown;
  readonly label: string;
  readonly find?: RegExp | null;
}) => <CodeBlock text={jsonText(value)} label={label} find={find} />;

const classOf = (line: string): string | undefined => {
  if (line.startsWith('@@') || line.startsWith('+++') || line.startsWith('---')) return 'diff-place';
  if (line.startsWith('+')) return 'diff-add';
  return line.startsWith('-') ? 'diff-cut' : undefined;
};

/** Lines of a unified diff; signs as well as colours tell what they are. */
export const DiffLines = ({
  lines,
  mode = 'line',
}: {
  readonly lines: readonly string[];
  /** `prose` where a person compares what they wrote: wide indents stay as they are. */
  readonly mode?: 'line' | 'prose';
}) => (
  <>
    {numbered(lines).map(({ key, part: line }) => (
      <span key={key} className={classOf(line)}>
        {mode === 'prose' ? (
          <Safe text={line} mode="prose" />
        ) : (
          <Escaped text={markTrailing(escapeText(line, { mode }), 'unicode')} />
        )}
        {'\n'}
      </span>
    ))}
  </>
);

export const DiffBlock = ({
  text,
  label,
  mode = 'line',
}: {
  readonly text: string;
  readonly label: string;
  readonly mode?: 'line' | 'prose';
}) => (
  <div className="code wraps tall">
    <section aria-label={label}>
      <pre>
        <DiffLines lines={text.replace(/\n$/, '').split('\n')} mode={mode} />
      </pre>
    </section>
  </div>
);
