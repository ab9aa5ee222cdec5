/** Bidirectional controls, and what has no width or no shape. A selector behind an emoji stays. */
const shapeless = String.raw`[\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\u034f|\u17b4|\u17b5|[\u180b-\u180d]|\u180f|[\ufe00-\ufe0d]|(?<!\p{Emoji})[\ufe0e\ufe0f]|[\u{1d173}-\u{1d17a}]|[\u{e0000}-\u{e0fff}]`;
const joiners = String.raw`[\u200c\u200d]`;
/** Controls but line feed and tab. */
const controls = String.raw`[\u0000-\u0008\u000b-\u001f]`;

/** A text can be written in tags or in variation selectors alone, which models read and people do not see. */
const hidden = new RegExp(`${controls}|${joiners}|${shapeless}`, 'gu');

/** Scripts whose words are spelled with joiners, and the parts of one emoji. */
const joinable = String.raw`[\p{scx=Arab}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{Extended_Pictographic}]`;
const before = String.raw`(?<=${joinable}|[\p{Emoji_Modifier}\ufe0f])`;
const joined = `${before}${joiners}(?=${joinable})`;
const carried = new RegExp(`${shapeless}|(?!${joined})${joiners}`, 'u');

export const withoutHidden = (text: string): string => text.replace(hidden, '');

/**
 * Whether a value holds what nobody sees. Words and emoji that are spelled with joiners hold nothing else.
 * @param json as it is sent, where each control of C0 is an escape that everybody reads: a line end is a choice, too
 */
export const carriesHidden = (json: string): boolean => carried.test(json);
