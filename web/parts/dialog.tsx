import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from './button.tsx';
import { isTyping } from './typing.ts';

/** Where something is written. */
const fields = '.dialog-body :is(textarea, select, input:not([type=radio], [type=checkbox])):not([hidden], :disabled)';

/**
 * A dialog over the page: the browser keeps the focus in it, Esc closes it, and the focus goes back where it was. It is
 * mounted while it is open.
 */
export function Dialog({
  title,
  onClose,
  onKey,
  unasked = false,
  children,
  foot,
}: {
  readonly title: ReactNode;
  /** Absent: it cannot be left without an answer. */
  readonly onClose?: (() => void) | undefined;
  /** A key without a modifier, once, outside of text fields. */
  readonly onKey?: (key: string) => void;
  /** Nobody has pressed anything for it: it may come in the middle of a word. */
  readonly unasked?: boolean;
  readonly children: ReactNode;
  readonly foot?: ReactNode;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    if (dialog?.open === false) dialog.showModal();
    // The browser takes the first thing that can be reached: Close, which the first blank of what is typed would press.
    const wanted = dialog?.querySelector<HTMLElement>('[data-first]') ?? dialog?.querySelector<HTMLElement>(fields);
    let stop: (() => void) | null = null;
    if (unasked && dialog !== null && isTyping(before)) stop = focusWhenQuiet(dialog, wanted ?? null);
    else wanted?.focus();
    return () => {
      stop?.();
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [unasked]);
  return (
    <dialog
      ref={element}
      className="dialog"
      aria-labelledby={id}
      onKeyDown={({ key, repeat, target, ctrlKey, metaKey, altKey }) => {
        const typing =
          target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type !== 'radio');
        if (!repeat && !typing && !ctrlKey && !metaKey && !altKey) onKey?.(key);
      }}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
    >
      <div className="dialog-head">
        <h2 id={id}>{title}</h2>
        {onClose === undefined ? null : (
          <Button look="quiet" size="small" onClick={onClose}>
            Close
          </Button>
        )}
      </div>
      <div className="dialog-body">
        {children}
        {foot === undefined ? null : <div className="dialog-foot">{foot}</div>}
      </div>
    </dialog>
  );
}

/** How long nothing is typed by who has seen that the keys go elsewhere. */
const quietMs = 700;

/** What is being typed was meant for another field: a password would be made of it, and Enter would send it. @returns how to stop */
function focusWhenQuiet(dialog: HTMLDialogElement, wanted: HTMLElement | null): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (document.activeElement === dialog) wanted?.focus();
      stop();
    }, quietMs);
  };
  const stop = () => {
    clearTimeout(timer);
    dialog.removeEventListener('keydown', wait);
  };
  dialog.tabIndex = -1;
  dialog.focus();
  dialog.addEventListener('keydown', wait);
  wait();
  return stop;
}
