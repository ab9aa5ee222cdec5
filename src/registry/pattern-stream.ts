import type { MaskStream } from './mask-stream.ts';

/** Something that is told by its introduction, such as a header by its name; what follows is its body. */
export type Pattern = {
  /** A cheap look whether a whole text could hold one; most texts end here. */
  readonly hint: (text: string) => boolean;
  /** Stands in every introduction: the same for a piece of a text. */
  readonly sign: string;
  /**
   * Global. The first group stays; behind it stands as much of the body as must be there to know it for one. Every
   * repetition is bounded and no part can match in two ways.
   */
  readonly introduction: RegExp;
  /** How many characters the first group has at most. */
  readonly reach: number;
  /** Characters at the end of a text that are held back, since what follows decides whether they belong to a body. */
  readonly undecided: (text: string) => number;
  readonly body: () => Body;
};

/** Takes a body as it arrives, from a place in a text on. */
export type Body = {
  take(text: string, at: number): Taken;
  /** What was held back and turned out to be harmless, since nothing follows. */
  rest(): string;
};

export type Taken = {
  readonly shown: string;
  /** Where it ended in the text, and from where on the next introduction may begin; null when the text ended first. */
  readonly over: { readonly at: number; readonly from: number } | null;
};

/**
 * Hides one pattern in a text that arrives in pieces. Only a body that may still turn out to be none is held back; what
 * is certain to be hidden is dropped as it comes. Each character is looked at a bounded number of times.
 */
export function createPatternStream(pattern: Pattern): MaskStream {
  const { sign, introduction, reach } = pattern;
  /** The end of what was taken: introductions may begin in it, from `from` on. */
  let context = '';
  let from = 0;
  let held = '';
  let body: Body | null = null;

  const take = (piece: string, last: boolean): string => {
    const all = context + held + piece;
    const open = last ? 0 : Math.min(pattern.undecided(all), all.length - context.length);
    held = all.slice(all.length - open);
    const text = open === 0 ? all : all.slice(0, -open);
    const hasSign = text.includes(sign);
    let at = context.length;
    let shown = '';
    while (at < text.length) {
      if (body === null) {
        introduction.lastIndex = Math.max(from, at - reach);
        const found = hasSign ? introduction.exec(text) : null;
        const end = found === null ? text.length : found.index + (found[1] ?? '').length;
        shown += text.slice(at, end);
        at = end;
        if (found === null) break;
        body = pattern.body();
      }
      const taken = body.take(text, at);
      shown += taken.shown;
      at = taken.over === null ? text.length : taken.over.at;
      if (taken.over === null) break;
      body = null;
      from = taken.over.from;
    }
    // One more than an introduction may reach back to, for the word boundary before it.
    const kept = Math.max(0, at - reach - 1);
    context = text.slice(kept, at);
    from = Math.max(0, from - kept);
    return shown;
  };

  return {
    push: (piece) => take(piece, false),
    end() {
      const shown = take('', true) + (body?.rest() ?? '');
      context = '';
      from = 0;
      body = null;
      return shown;
    },
  };
}

/** The streams one behind the other: each gets what the one before it shows. */
export function inTurn(streams: readonly MaskStream[]): MaskStream {
  return {
    push: (piece) => streams.reduce((text, stream) => (text === '' ? '' : stream.push(text)), piece),
    end: () => streams.reduce((text, stream) => (text === '' ? '' : stream.push(text)) + stream.end(), ''),
  };
}
