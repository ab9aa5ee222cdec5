/** Hides known values in a text that arrives in pieces (11 §5.3): none of them gets out cut apart. */
export type MaskStream = {
  /** What may be shown of everything pushed so far and not yet given back; it may be empty. */
  push(piece: string): string;
  /** The rest. The stream can be used again after it. */
  end(): string;
};

/**
 * Holds back the end of the text while it may be the beginning of a known value, which is at most one value's length.
 * @param forms the known values in every way of writing them, longest first; asked at each piece
 */
export function createMaskStream(forms: () => readonly string[], mask: (text: string) => string): MaskStream {
  let held = '';
  return {
    push(piece) {
      const known = forms();
      const text = held + piece;
      const cut = known.length === 0 ? text.length : beforeOpenEnd(text, known);
      held = text.slice(cut);
      return mask(text.slice(0, cut));
    },
    end() {
      const rest = mask(held);
      held = '';
      return rest;
    },
  };
}

/** Where the end that could become a known value begins; no whole value is cut by it. */
function beforeOpenEnd(text: string, known: readonly string[]): number {
  const longest = known[0]?.length ?? 0;
  const beginnings = new Set(known.map((form) => form.charCodeAt(0)));
  let cut = text.length;
  for (let at = Math.max(0, text.length - longest + 1); at < text.length; at += 1) {
    if (!beginnings.has(text.charCodeAt(at))) continue;
    const end = text.slice(at);
    if (known.some((form) => form.length > end.length && form.startsWith(end))) {
      cut = at;
      break;
    }
  }
  if (cut === text.length) return cut;
  // A whole value that reaches over the cut is kept whole, and may reach over another one.
  for (let moved = true; moved; ) {
    moved = false;
    for (const form of known) {
      const at = text.indexOf(form, Math.max(0, cut - form.length + 1));
      if (at === -1 || at >= cut) continue;
      cut = at;
      moved = true;
    }
  }
  return cut;
}
