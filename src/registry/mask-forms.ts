/** The ways in which a value may be written into a text. Most values are letters and digits, and most ways are then one. */
export function formsOf(value: string): readonly string[] {
  const trimmed = value.trim();
  return [
    ...new Set([
      ...written(value),
      // A variable may have been set from a file, with its line end.
      ...(trimmed === value ? [] : written(trimmed)),
      ...linesOfKey(value),
    ]),
  ];
}

const written = (value: string): readonly string[] => {
  const json = JSON.stringify(value).slice(1, -1);
  return [
    value,
    json,
    // JSON inside JSON, and as encoders write it that are careful about markup, slashes or what is not ASCII.
    JSON.stringify(json).slice(1, -1),
    json.replace(/[<>&]/g, unicodeEscape),
    json.replaceAll('/', '\\/'),
    json.replace(/[\u0080-\uffff]/g, unicodeEscape),
    ...percentFormsOf(value.toWellFormed()),
    ...markupFormsOf(value),
    ...shellFormsOf(value),
    ...base64FormsOf(value),
  ];
};

const unicodeEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

function percentFormsOf(value: string): readonly string[] {
  const percent = encodeURIComponent(value);
  // As Python and curl do it; and as a path.
  const strict = percent.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const lower = percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [
    percent,
    lower,
    strict,
    strict.replaceAll('%2F', '/'),
    strict.replaceAll('%20', '+'),
    percent.replaceAll('%20', '+'),
  ];
}

function markupFormsOf(value: string): readonly string[] {
  const text = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = text.replaceAll('"', '&quot;');
  return [text, quoted, quoted.replaceAll("'", '&#39;'), quoted.replaceAll("'", '&#x27;')];
}

/** As shells print what they would read again: `export -p`, `printf %q`, `set`. */
const shellFormsOf = (value: string): readonly string[] => [
  value.replace(/["$`\\]/g, '\\$&'),
  value.replace(/[^A-Za-z0-9_@%+=:,./-]/g, '\\$&'),
  value.replaceAll("'", "'\\''"),
  value.replaceAll("'", `'"'"'`),
];

/** The last line is what is left over: an RSA key's has 12 to 20 characters. Below it nothing is replaced at all (08 §11.4). */
const shortestKeyLine = 8;
const mostKeyLines = 200;

/** Lines of a private key, which stay the same with other line ends, indented, or read one at a time. */
function linesOfKey(value: string): readonly string[] {
  if (!value.includes('PRIVATE KEY-----')) return [];
  const lines = value.split(/\r?\n|\\r\\n|\\n/).map((line) => line.trim());
  return lines
    .filter((line) => line.length >= shortestKeyLine && /^[A-Za-z0-9+/=]+$/.test(line))
    .slice(0, mostKeyLines);
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

/** Those that may stand in lines that hold nothing but base64 or hexadecimal text. */
export const encodedForms = (value: string): readonly string[] => [
  Buffer.from(value.trim(), 'utf8').toString('hex'),
  ...formsOf(value).filter((form) => /^[A-Za-z0-9+/_-]+$/.test(form)),
];
