import { createMaskStream, type MaskStream } from './mask-stream.ts';

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
  /** For a text that arrives in pieces: known values are replaced, patterns are not. */
  stream(): MaskStream;
};

/** Shorter values are too likely to stand in other text by chance (08 §11.4). */
const minLength = 8;
const hidden = '•••';

type Known = { readonly form: string; readonly label: string };

/** A mask that knows nothing yet. */
export function createMask(): Mask {
  const values = new Set<string>();
  // Longest first: a value that contains another one is replaced as a whole.
  let known: Known[] = [];
  let forms: readonly string[] = [];

  const register = (label: string, value: string): void => {
    if (value.length < minLength || values.has(value)) return;
    values.add(value);
    const written = new Set(formsOf(value).filter((form) => form.length >= minLength));
    known = [...known, ...[...written].map((form) => ({ form, label }))].sort(
      (one, other) => other.form.length - one.form.length,
    );
    forms = known.map(({ form }) => form);
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

  const maskValue = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') return isCredentialName(name) && value !== '' ? hideAll(value) : mask(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      let list: unknown[] | null = null;
      for (const [index, item] of value.entries()) {
        const masked = maskValue(item, name);
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
    let changed = false;
    const members: [string, unknown][] = [];
    for (const [key, member] of Object.entries(value)) {
      const maskedKey = mask(key);
      const masked = maskValue(member, key);
      changed ||= masked !== member || maskedKey !== key;
      members.push([maskedKey, masked]);
    }
    return changed ? Object.fromEntries(members) : value;
  };

  return {
    register,
    mask,
    maskKnown,
    // Strings are replaced by strings and members keep their places, so the value keeps its type.
    maskDeep: <T>(value: T): T => maskValue(value, '') as T,
    stream: () =>
      createMaskStream(
        () => forms,
        (text) => maskKnown(text).text,
      ),
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
const isCredentialName = (name: string): boolean =>
  name.length >= 6 && name.length <= 19 && credentialNames.has(name.toLowerCase());

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

/** 11 §5.3.2: what looks like a secret whoever wrote it. Linear in the length of the text. */
function maskPatterns(text: string): string {
  let masked = text.includes(pemEnd) ? maskPrivateKeys(text) : text;
  for (const { hint, find, by } of patterns) if (hint(masked)) masked = masked.replace(find, by);
  return masked;
}

const pemBegin = '-----BEGIN ';
const pemEnd = 'PRIVATE KEY-----';

/** Replaces what stands between the first and the last line of a private key; without a last line, all that follows. */
function maskPrivateKeys(text: string): string {
  let masked = '';
  let from = 0;
  for (let at = text.indexOf(pemBegin); at !== -1; at = text.indexOf(pemBegin, from)) {
    // `RSA`, `OPENSSH`, `EC`, `ENCRYPTED` or nothing stands between. Only this line is looked at, so the cost is linear.
    const words = text.slice(at + pemBegin.length, at + 60).indexOf(pemEnd);
    if (words === -1) {
      masked += text.slice(from, at + pemBegin.length);
      from = at + pemBegin.length;
      continue;
    }
    const body = at + pemBegin.length + words + pemEnd.length;
    const end = text.indexOf('-----END ', body);
    masked += `${text.slice(from, body)}${hidden}`;
    from = end === -1 ? text.length : end;
  }
  return masked + text.slice(from);
}

type Pattern = {
  /** A cheap look whether the pattern could occur; most texts end here. */
  readonly hint: (text: string) => boolean;
  /** Every repetition is bounded and no part can match in two ways. */
  readonly find: RegExp;
  readonly by: string;
};

const headerHint = /auth|cookie|api-key/i;

const patterns: readonly Pattern[] = [
  {
    hint: (text) => text.includes(':') && headerHint.test(text),
    // A header in text, or a member of JSON text.
    find: /(\b(?:proxy-authorization|authorization|set-cookie|cookie|x-api-key|x-goog-api-key)\\?["']?[ \t]{0,4}:[ \t]{0,4}\\?["']?)(?!•••)[^\s"'\\][^\r\n"'\\]{0,8192}/gi,
    by: `$1${hidden}`,
  },
  {
    // User-info of a URL.
    hint: (text) => text.includes('://') && text.includes('@'),
    find: /(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/?#@"'<>]{1,512}@/gi,
    by: `$1${hidden}@`,
  },
  {
    hint: (text) => text.includes('=') && (text.includes('?') || text.includes('&')),
    find: /([?&](?:[A-Za-z0-9._-]{0,32}[._-])?(?:token|key|apikey|secret|password|code|signature|sig)=)(?!•••)[^\s&#"'<>]{1,4096}/gi,
    by: `$1${hidden}`,
  },
  {
    // A JSON web token.
    hint: (text) => text.includes('eyJ'),
    find: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,8192}\.[A-Za-z0-9_-]{5,16384}\.[A-Za-z0-9_-]{5,2048}/g,
    by: hidden,
  },
];
