import { encodedForms, formsOf } from './mask-forms.ts';
import { type Known, maskLines, type Sought } from './mask-lines.ts';
import { hidden, maskPatterns, patternStreams } from './mask-patterns.ts';
import { createMaskStream, type MaskStream } from './mask-stream.ts';
import { inTurn } from './pattern-stream.ts';

/** Hides secrets in what leaves for people, models and records (11 §5.3). */
export type Mask = {
  /**
   * Makes a value known. From now on it is replaced by `•••(label)`, also in base64, percent-encoded and other ways
   * of writing it. Values below 8 characters are not replaced (08 §11.4). A value keeps its first label.
   */
  register(label: string, value: string): void;
  /** The text with known values and secret patterns replaced; the same string when there is nothing to hide. */
  mask(text: string): string;
  /**
   * Replaces known values only and says how many: for results on their way to the model (11 §5.3.4), where a file that
   * merely looks like it holds a secret must stay as it is to be edited.
   */
  maskKnown(text: string): { readonly text: string; readonly count: number };
  /**
   * Masks every string of a JSON value, keys included, and the values of members named like credential headers. Returns
   * the same value, not a copy, when there is nothing to hide.
   */
  maskDeep<T>(value: T): T;
  /**
   * `maskKnown` for every string of a JSON value, keys included: for what a person decides on and what then runs, which is
   * exact apart from known secrets (11 §5.3.3). Returns the same value, not a copy, when there is nothing to hide.
   */
  maskKnownDeep<T>(value: T): T;
  /** `mask` for a text that arrives in pieces, with the same outcome wherever it is cut. */
  stream(): MaskStream;
};

/** Shorter values are too likely to stand in other text by chance (08 §11.4). */
const minLength = 8;

/** The name of a member as it is shown, and whether its whole value is a credential. */
type Name = { readonly shown: string; readonly isCredential: boolean };

/** Names may come from a model, which may make up as many and as long ones as it likes. */
const mostNames = 1000;
const longestName = 64;

/** A mask that knows nothing yet. */
export function createMask(): Mask {
  const values = new Set<string>();
  // Longest first: a value that contains another one is replaced as a whole.
  let known: readonly Known[] = [];
  let inLines: Sought = { dumped: [], encoded: [] };
  let forms: readonly string[] = [];
  /** The same few names come again with every event. */
  const names = new Map<string, Name>();

  const register = (label: string, value: string): void => {
    if (value.length < minLength || values.has(value)) return;
    values.add(value);
    const mark = `${hidden}(${label})`;
    const add = (list: readonly Known[], more: readonly string[]): readonly Known[] =>
      [...list, ...more.filter((form) => form.length >= minLength).map((form) => ({ form, mark }))].sort(
        (one, other) => other.form.length - one.form.length,
      );
    known = add(known, formsOf(value));
    inLines = {
      dumped: add(inLines.dumped, [...new Set([value, value.trim()])]),
      encoded: add(inLines.encoded, encodedForms(value)),
    };
    forms = known.map(({ form }) => form);
    names.clear();
  };

  const maskKnown = (text: string): { text: string; count: number } => {
    if (text.length < minLength || known.length === 0) return { text, count: 0 };
    // First, since a part that one line holds whole would be gone from among the others.
    const wrapped = text.length < 2 * minLength ? { text, count: 0 } : maskLines(text, inLines);
    let masked = wrapped.text;
    let count = wrapped.count;
    for (const { form, mark } of known) {
      if (!masked.includes(form)) continue;
      const parts = masked.split(form);
      count += parts.length - 1;
      masked = parts.join(mark);
    }
    return { text: masked, count };
  };
  const mask = (text: string): string => (text.length < minLength ? text : maskPatterns(maskKnown(text).text));

  const nameOf = (name: string): Name => {
    const known = names.get(name);
    if (known !== undefined) return known;
    const found = { shown: mask(name), isCredential: credentialNames.has(name.toLowerCase()) };
    if (name.length <= longestName && names.size < mostNames) names.set(name, found);
    return found;
  };
  const maskValue = (value: unknown, isCredential: boolean): unknown => {
    if (typeof value === 'string') return isCredential && value !== '' ? hideAll(value) : mask(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      let list: unknown[] | null = null;
      for (const [index, item] of value.entries()) {
        const masked = maskValue(item, isCredential);
        if (masked !== item) {
          list ??= [...value];
          list[index] = masked;
        }
      }
      return list ?? value;
    }
    return maskMembers(value);
  };
  const maskMembers = (value: object): object => {
    // A list of our own, so it is changed in place.
    const members: [string, unknown][] = Object.entries(value);
    let changed = false;
    for (const entry of members) {
      const [key, member] = entry;
      const { shown, isCredential } = nameOf(key);
      const masked = maskValue(member, isCredential);
      if (masked === member && shown === key) continue;
      entry[0] = shown;
      entry[1] = masked;
      changed = true;
    }
    return changed ? Object.fromEntries(members) : value;
  };

  const knownIn = (value: unknown): unknown => {
    if (typeof value === 'string') return maskKnown(value).text;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const list = value.map(knownIn);
      return list.every((one, index) => one === value[index]) ? value : list;
    }
    const members = Object.entries(value);
    const shown = members.map(([key, member]) => [maskKnown(key).text, knownIn(member)] as const);
    const isSame = shown.every(([key, member], at) => key === members[at]?.[0] && member === members[at]?.[1]);
    return isSame ? value : Object.fromEntries(shown);
  };

  return {
    register,
    mask,
    maskKnown,
    // Strings are replaced by strings and members keep their places, so the value keeps its type.
    maskDeep: <T>(value: T): T => maskValue(value, false) as T,
    maskKnownDeep: <T>(value: T): T => (known.length === 0 ? value : (knownIn(value) as T)),
    stream: () =>
      inTurn([
        createMaskStream(
          () => forms,
          (text) => maskKnown(text).text,
        ),
        ...patternStreams(),
      ]),
  };
}

/** A member whose whole value is a credential keeps only the marks that masking has already put there. */
const hideAll = (value: string): string => (value.startsWith(hidden) ? value : hidden);

const credentialNames: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'x-goog-api-key',
]);
