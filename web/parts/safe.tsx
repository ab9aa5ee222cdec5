import { escapeText, type EscapeOptions, notation, type SafeText } from '../../src/view/escape.ts';
import { numbered } from './numbered.ts';

/**
 * Text from a model, a tool, a file or the network: what could hide or move text is shown and coloured (03 §8.1). The one
 * way for such text into a page.
 */
export const Safe = ({ text, mode = 'line' }: { readonly text: string; readonly mode?: EscapeOptions['mode'] }) => (
  <Escaped text={escapeText(text, { mode })} />
);

/** The same for a text that passed the boundary already. */
export function Escaped({ text }: { readonly text: SafeText }) {
  // A literal sign of our notation is escaped itself, so what matches is ours.
  const parts = text.split(notation.unicode);
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
