import { type EscapeOptions, escapeText, type Glyphs, notation, type SafeText } from './escape.ts';

/** What a text means; a face gives it a colour (10 §11). Nothing is said by it alone. */
export type Token =
  | 'text'
  | 'dim'
  | 'accent'
  | 'tool'
  | 'ask'
  | 'danger'
  | 'warn'
  | 'ok'
  | 'add'
  | 'remove'
  | 'hidden'
  | 'hit'
  | 'selection'
  | 'border';

export type Mark = 'bold' | 'italic' | 'underline' | 'strike';

/** A piece of a line. `caret` marks the cluster on which the cursor of the terminal stands. */
export type Span = {
  readonly text: SafeText;
  readonly token?: Token;
  readonly marks?: readonly Mark[];
  readonly caret?: true;
  /** It ends in the sign of what was cut off. */
  readonly cut?: true;
};

/** One row of the screen, or less of it. It holds no line break. */
export type Line = readonly Span[];

/** A text of our own. Never call it with anything that came from outside. */
export const chrome = (text: string): SafeText => text as SafeText;

/** A span of our own words. */
export const say = (text: string, token?: Token, marks?: readonly Mark[]): Span => ({
  text: chrome(text),
  ...(token === undefined ? {} : { token }),
  ...(marks === undefined ? {} : { marks }),
});

/** Where a line ends or a tab stands hides nothing: were every line marked like an attack, none would be seen. */
const lineMark = /^(?:[⏎⇥]+|<LF>|<TAB>)$/;

/** A text that passed the boundary, with what the boundary made visible in its own colour (10 §4.1). */
export function shown(text: SafeText, glyphs: Glyphs, token?: Token, marks?: readonly Mark[]): Line {
  const span = (piece: string, own?: Token): Span => ({
    // A part of a safe text is safe.
    text: piece as SafeText,
    ...(own === undefined ? {} : { token: own }),
    ...(marks === undefined ? {} : { marks }),
  });
  const pieces = text.split(notation[glyphs]);
  return pieces.flatMap((piece, index) =>
    piece === '' ? [] : [span(piece, index % 2 === 1 ? (lineMark.test(piece) ? 'dim' : 'hidden') : token)],
  );
}

/** Foreign text as spans of one line. */
export const foreign = (
  text: string,
  glyphs: Glyphs,
  token?: Token,
  mode: EscapeOptions['mode'] = 'line',
  marks?: readonly Mark[],
): Line =>
  shown(escapeText(mode === 'prose' ? text.replaceAll('\t', '    ') : text, { mode, glyphs }), glyphs, token, marks);

/** The text of a line without its colours. */
export const textOf = (line: Line): string => line.map((span) => span.text).join('');
