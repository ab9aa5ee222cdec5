import { hidden, maskPatterns, patternStreams } from './mask-patterns.ts';
import { createMaskStream, type MaskStream } from './mask-stream.ts';
import { inTurn } from './pattern-stream.ts';

/** Hides secrets in what leaves for people, models and records (11 §5.3). */
export type Mask = {
  /**
   * Makes a value known. From now on it is replaced by `•••(label)`, also in base64 and percent-encoded form. Values
   * below 8 characters are not replaced (08 §11.4). A value keeps its first label.
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
  /** `mask` for a text that arrives in pieces, with the same outcome wherever it is cut. */
  stream(): MaskStream;
};

/** Shorter values are too likely to stand in other text by chance (08 §11.4). */
const minLength = 8;

type Known = { readonly form: string; readonly label: string };

/** The name of a member as it is shown, and whether its whole value is a credential. */
type Name = { readonly shown: string; readonly isCredential: boolean };

/** Names may come from a model, which may make up as many and as long ones as it likes. */
const mostNames = 1000;
const longestName = 64;

/** A mask that knows nothing yet. */
export function createMask(): Mask {
  const values = new Set<string>();
  // Longest first: a value that contains another one is replaced as a whole.
  let known: Known[] = [];
  let forms: readonly string[] = [];
  /** The same few names come again with every event. */
  const names = new Map<string, Name>();

  const register = (label: string, value: string): void => {
    if (value.length < minLength || values.has(value)) return;
    values.add(value);
    const written = new Set(formsOf(value).filter((form) => form.length >= minLength));
    known = [...known, ...[...written].map((form) => ({ form, label }))].sort(
      (one, other) => other.form.length - one.form.length,
    );
    forms = known.map(({ form }) => form);
    names.clear();
  };

  const maskKnown = (text: string): { text: string; count: number } => {
    let masked = text;
    let count = 0;
    if (text.length < minLength) return { text, count };
    for (const { form, label } of known) {
      if (!masked.includes(form)) continue;
      const parts = masked.split(form);
      count += parts.length - 1;
      masked = parts.join(`${hidden}(${label})`);
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

  return {
    register,
    mask,
    maskKnown,
    // Strings are replaced by strings and members keep their places, so the value keeps its type.
    maskDeep: <T>(value: T): T => maskValue(value, false) as T,
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

/** The ways in which a value may be written into a text. */
function formsOf(value: string): readonly string[] {
  const percent = encodeURIComponent(value.toWellFormed());
  return [
    value,
    // As it stands inside JSON text.
    JSON.stringify(value).slice(1, -1),
    percent,
    percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    percent.replaceAll('%20', '+'),
    ...base64FormsOf(value),
  ];
}

/**
 * Base64 of the value at each of the three places that it can have inside a longer encoded text, without the characters
 * at either end that its neighbours share.
 */
function base64FormsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value, 'utf8');
  const forms: string[] = [];
  for (const before of [0, 1, 2]) {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const shared = (before + bytes.length) % 3 === 0 ? 0 : 1;
    const form = text.slice(before === 0 ? 0 : before + 1, text.length - shared);
    forms.push(form, form.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return forms;
}
