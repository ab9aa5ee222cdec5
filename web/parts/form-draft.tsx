import { useState } from 'react';
import { Button } from './button.tsx';

type Fields = Readonly<Record<string, string | boolean | null>>;

/** What a form holds, and whether it was written before. */
export type FormDraft<T> = {
  readonly fields: T;
  readonly change: (part: Partial<T>) => void;
  /** It comes from a form that was left before it was sent. */
  readonly isBack: boolean;
  /** As nobody has written in it yet. */
  readonly startOver: () => void;
  /** Something was written that has not arrived yet. */
  readonly isLeft: () => boolean;
  /** What was written has arrived where it belongs. */
  readonly sent: () => void;
};

/** By the name of the form. Fields may hold secrets, so nothing of it outlives the page. */
const left = new Map<string, Fields>();

/**
 * The fields of a form, kept while it is closed: Esc, a press beside the point or another page loses nothing of what was
 * written, until it is sent.
 * @param name of the form and of what it is about
 * @param blank what stands in it before anybody writes
 */
export function useFormDraft<T extends Fields>(name: string, blank: T): FormDraft<T> {
  // A name has one form, and that has these fields.
  const [found] = useState(() => left.get(name) as T | undefined);
  const [fields, hold] = useState(found ?? blank);
  const [isBack, setBack] = useState(found !== undefined);
  return {
    fields,
    change(part) {
      const next = { ...fields, ...part };
      hold(next);
      if (Object.keys(next).every((key) => next[key] === blank[key])) left.delete(name);
      else left.set(name, next);
    },
    isBack,
    startOver() {
      left.delete(name);
      hold(blank);
      setBack(false);
    },
    isLeft: () => left.has(name),
    sent: () => void left.delete(name),
  };
}

/** Nobody is logged in any more who has written it. */
export const forgetForms = (): void => left.clear();

/** Says why a form is not empty, and the way to an empty one. */
export const IsBack = ({
  draft: { isBack, startOver },
}: {
  readonly draft: Pick<FormDraft<Fields>, 'isBack' | 'startOver'>;
}) =>
  isBack ? (
    <div className="note row spread small">
      <span>What you wrote here before is still there.</span>
      <Button size="small" look="quiet" onClick={startOver}>
        Start over
      </Button>
    </div>
  ) : null;
