import { type ComponentProps, type MouseEvent, type ReactNode, useState } from 'react';

export type ButtonProps = Omit<ComponentProps<'button'>, 'className' | 'type'> & {
  readonly look?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly size?: 'normal' | 'small';
  /** Progress is shown, and presses mean nothing. */
  readonly busy?: boolean;
  readonly submit?: boolean;
  readonly children: ReactNode;
};

export function Button({ look = 'plain', size = 'normal', busy = false, submit = false, ...rest }: ButtonProps) {
  const { children, disabled, ...others } = rest;
  return (
    <button
      {...others}
      type={submit ? 'submit' : 'button'}
      className={`button ${look} ${size}`}
      disabled={disabled}
      // Not `disabled` as well: the browser would take the focus away from who has just pressed it.
      aria-disabled={busy ? true : undefined}
      aria-busy={busy}
      {...(busy ? { onClick: refuse } : {})}
    >
      {busy ? <span className="pulse" aria-hidden="true" /> : null}
      {children}
    </button>
  );
}

const refuse = (event: MouseEvent) => event.preventDefault();

/** For what cannot be taken back: the first press asks, the second does it. Asking ends when the focus goes elsewhere. */
export function SureButton({
  word,
  sureWord,
  onSure,
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

/** Copies a text as it is, and says so. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  return (
    <Button
      size="small"
      look="quiet"
      onClick={(event) => {
        const button = event.currentTarget;
        void copied(text).then((done) => {
          button.textContent = done ? 'Copied' : 'Not permitted';
          setTimeout(() => {
            button.textContent = label;
          }, 1200);
        });
      }}
    >
      {label}
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
