import { escapeText, type EscapeOptions, type SafeText } from '../../src/view/escape.ts';
import { numbered } from './numbered.ts';

/** Our own notation in an escaped text; a literal sign of it is escaped itself, so what matches is ours. */
const notation = /(⟨[^⟩]*⟩|[\u2400-\u2426⏎⇥])/;

/**
 * Text from a model, a tool, a file or the network: what could hide or move text is shown and coloured (03 §8.1). The one
 * way for such text into a page.
 */
export const Safe = ({ text, mode = 'line' }: { readonly text: string; readonly mode?: EscapeOptions['mode'] }) => (
  <Escaped text={escapeText(text, { mode })} />
);

/** The same for a text that passed the boundary already. */
export function Escaped({ text }: { readonly text: SafeText }) {
  const parts = text.split(notation);
  if (parts.length === 1) return <>{parts[0]}</>;
  return (
    <>
      {numbered(parts).map(({ key, part }, place) =>
        place % 2 === 0 ? (
          part
        ) : (
          <span key={key} className="escape">
            {part}
          </span>
        ),
      )}
    </>
  );
}
