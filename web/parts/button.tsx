import { type ComponentProps, type KeyboardEvent, type MouseEvent, type ReactNode, useEffect, useState } from 'react';
import { announce } from '../frame/announce.tsx';

export type ButtonProps = Omit<ComponentProps<'button'>, 'className' | 'type'> & {
  readonly look?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly size?: 'normal' | 'small';
  /**
   * Progress is shown, and presses mean nothing. Whoever says this, true or false, is pressed once for each time that
   * something is to be done: the second half of a double click, and what a held key presses, is none.
   */
  readonly busy?: boolean;
  readonly submit?: boolean;
  readonly children: ReactNode;
};

export function Button({ look = 'plain', size = 'normal', busy, submit = false, ...rest }: ButtonProps) {
  const { children, disabled, onClick, onKeyDown, ...others } = rest;
  const isOnce = busy !== undefined;
  return (
    <button
      {...others}
      onClick={(event: MouseEvent<HTMLButtonElement>) => {
        if (busy === true || (isOnce && event.detail > 1)) event.preventDefault();
        else onClick?.(event);
      }}
      onKeyDown={(event: KeyboardEvent<HTMLButtonElement>) => {
        if (isOnce && event.repeat && event.key === 'Enter') event.preventDefault();
        onKeyDown?.(event);
      }}
      type={submit ? 'submit' : 'button'}
      className={`button ${look} ${size}`}
      disabled={disabled}
      // Not `disabled` as well: the browser would take the focus away from who has just pressed it.
      aria-disabled={busy === true ? true : undefined}
      aria-busy={busy === true}
    >
      {busy ? <span className="pulse" aria-hidden="true" /> : null}
      {children}
    </button>
  );
}

/**
 * For what cannot be taken back: the first press asks, the second does it, and a double click is one. Asking ends when the
 * focus goes elsewhere.
 */
export function SureButton({
  word,
  sureWord,
  onSure,
  busy = false,
  ...rest
}: Omit<ButtonProps, 'children' | 'onClick' | 'onBlur' | 'look' | 'submit'> & {
  readonly word: ReactNode;
  readonly sureWord: string;
  readonly onSure: () => void;
}) {
  const [sure, setSure] = useState(false);
  return (
    <Button
      {...rest}
      busy={busy}
      look="danger"
      onBlur={() => setSure(false)}
      onClick={() => {
        setSure(!sure);
        if (sure) onSure();
      }}
    >
      {sure ? sureWord : word}
    </Button>
  );
}

/** Copies a text as it is, and says so. `what` is for who hears several of them without seeing where they stand. */
export function CopyButton({
  text,
  label = 'Copy',
  what,
}: {
  readonly text: string;
  readonly label?: string;
  readonly what?: string;
}) {
  const [said, say] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => say(null), 1200);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    const done = (await copied(text)) ? 'Copied' : 'Not permitted';
    say(done);
    announce(done);
  };
  return (
    <Button size="small" look="quiet" onClick={() => void copy()}>
      {said ?? label}
      {what === undefined || said !== null ? null : <span className="sr"> {what}</span>}
    </Button>
  );
}

/** Whether it is in the clipboard: over plain HTTP from another machine, and in a window without the focus, pages have none. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
