/** What the terminal tells, as the input decoder makes it of bytes (10 §12.3). */

/** `name`: `enter`, `up`, `f1`, or the character in lower case; `text`: what the key types, empty for the others. */
export type KeyEvent = {
  readonly type: 'key';
  readonly name: string;
  readonly text: string;
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
};

export type InputEvent =
  | KeyEvent
  | { readonly type: 'paste'; readonly text: string }
  | { readonly type: 'focus' }
  | { readonly type: 'blur' }
  | { readonly type: 'mouse'; readonly wheel: 'up' | 'down' | null };

export type Size = { readonly columns: number; readonly rows: number };
