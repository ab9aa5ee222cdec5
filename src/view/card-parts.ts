import type { Ask } from '../schema/ask.ts';
import { followsOf } from './card-warnings.ts';
import { escapeText, type Glyphs, type SafeText } from './escape.ts';
import { isPlainWord } from '../text/quote.ts';
import { sendsLine, unicodeLine } from './card-url.ts';

/** Labelled lines of a card; what came from outside may be folded and stands apart from what the runtime established. */
export type CardPart = {
  readonly label: string;
  readonly lines: readonly SafeText[];
  /** May be folded, with the number of hidden lines said; everything else is never cut. */
  readonly foldable: boolean;
  /** `told`: another part says it in full, so it stands where everything is viewed. `help`: nobody must have seen it. */
  readonly extra?: 'told' | 'help';
  /** A diff: the number that each line has in the file, empty for a line that has none. */
  readonly numbers?: readonly string[];
  /** Its lines begin with their own numbers. */
  readonly counted?: true;
  readonly danger?: true;
};

/** How a card is written in a set of signs. */
export type Pen = {
  readonly glyphs: Glyphs;
  readonly line: (text: string) => SafeText;
  /** Signs of our own; in the texts of others every character counts. */
  readonly arrow: string;
  readonly dot: string;
  readonly cut: string;
  /** What the runtime says; whatever in it came from outside is made visible all the same. */
  readonly fact: (label: string, ...lines: readonly string[]) => CardPart;
  /** Text from outside, in full. */
  readonly data: (label: string, text: string) => CardPart;
};

const penOf = (glyphs: Glyphs): Pen => ({
  glyphs,
  line: (text) => escapeText(text, { mode: 'line', glyphs }),
  ...(glyphs === 'ascii' ? { arrow: '->', dot: '-', cut: '...' } : { arrow: '→', dot: '·', cut: '…' }),
  fact: (label, ...lines) => ({
    label,
    lines: lines.map((text) => escapeText(text, { mode: 'line', glyphs, exact: true })),
    foldable: false,
  }),
  data: (label, text) => ({ label, lines: splitSafe(escapeText(text, { mode: 'lines', glyphs })), foldable: true }),
});

// Splitting a safe text at its own line breaks leaves safe lines.
const splitSafe = (text: SafeText) =>
  text.split('\n').filter((each, index, all) => each !== '' || index < all.length - 1) as SafeText[];

export const pens: Readonly<Record<Glyphs, Pen>> = { unicode: penOf('unicode'), ascii: penOf('ascii') };

/** What the call is: its line, its file or its arguments, and what would run. */
export const callParts = (ask: Ask, pen: Pen): readonly CardPart[] => [
  ...editedParts(ask, pen),
  ...pathParts(ask, pen),
  ...argumentParts(ask, pen),
  ...programParts(ask, pen),
  ...urlParts(ask, pen),
  ...diffParts(ask, pen),
];

/** What the model had asked for, where the operator has changed it. */
function editedParts({ args, preview: { anew } }: Ask, { data, fact }: Pen): readonly CardPart[] {
  if (anew?.edited !== true) return [];
  const entries = (value: unknown) =>
    new Map(
      Object.entries(typeof value === 'object' && value !== null ? value : {}).map(([key, each]) => [key, text(each)]),
    );
  const [old, now] = [entries(anew.args), entries(args)];
  const gone = [...old].filter(([key, each]) => now.get(key) !== each).map(([key, each]) => `-${key}: ${each}`);
  const come = [...now].filter(([key, each]) => old.get(key) !== each).map(([key, each]) => `+${key}: ${each}`);
  const lines = [...gone, ...come];
  return [
    fact('edited', 'by you; - is what the model asked for, + what you put there'),
    { label: '', lines: lines.flatMap((each) => data('', each).lines), foldable: true, numbers: [] },
  ];
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const inDiff: Readonly<Record<string, readonly string[]>> = {
  write_file: ['content'],
  edit_file: ['old_string', 'new_string'],
};

/** Arguments of a call that a whole diff says already. */
export const saidByDiff = ({ tools, tool }: Pick<Ask, 'tools' | 'tool'>, isWhole: boolean): readonly string[] =>
  tools === 'local_fs' && isWhole ? (inDiff[tool] ?? []) : [];

/**
 * Every argument, sorted by name, in full: what is shown is what will run. Names come from the model: `arg` stands
 * before them, so that none can pass for a fact of the runtime. The line of the shell and the path of a file tool are
 * named by us.
 */
function argumentParts(ask: Ask, { data, fact, line }: Pen): readonly CardPart[] {
  const { args, tools, preview } = ask;
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return [data('arguments', JSON.stringify(args))];
  const entries = Object.entries(args).sort(([left], [right]) => (left < right ? -1 : 1));
  if (entries.length === 0) return [fact('arguments', 'none')];
  const told = saidByDiff(ask, preview.diff !== undefined && preview.diff_note === undefined);
  return entries.flatMap(([key, value]): readonly CardPart[] => {
    if (tools === 'local_shell' && key === 'command') return [data('command', text(value))];
    if (tools === 'local_fs' && key === 'path' && preview.paths?.some(({ given }) => given === value) === true)
      return [];
    return [{ ...data(`arg ${line(key)}`, text(value)), ...(told.includes(key) ? { extra: 'told' } : {}) }];
  });
}

function pathParts({ cwd, preview }: Ask, { arrow, fact }: Pen): readonly CardPart[] {
  return (preview.paths ?? []).map(({ given, real, inside, link }) => {
    const leads = real === given || real === `${cwd}/${given}` ? '' : ` ${arrow} ${real}`;
    return fact(
      'path',
      `${given}${leads} (${inside ? 'in' : 'outside'} the workspace${link ? ', through a link' : ''})`,
    );
  });
}

/** The first lines of segments that a card shows before it folds (10 §7.2). */
export const mostSegments = 6;

function programParts(ask: Ask, pen: Pen): readonly CardPart[] {
  const { cut, data, fact } = pen;
  const { exec, trust } = ask.record;
  if (exec === null) return [];
  const words = exec.argv.map((word) => (isPlainWord(word) ? word : JSON.stringify(word))).join(' ');
  // What runs is said where it is not what the call says.
  const runs = exec.form === 'sh' ? (exec.argv[2] ?? '') : words;
  const given = commandOf(ask.args);
  const own = ask.preview.commands?.first.filter(({ revealed }) => !revealed) ?? [];
  const isOne = exec.form === 'argv' || (own.length === 1 && ask.preview.commands?.total === 1);
  const file = exec.form === 'sh' && isOne ? (own[0]?.program ?? null) : exec.file;
  const through = exec.form === 'sh' && isOne ? ', through /bin/sh' : '';
  const sha256 = exec.trusted?.find(({ program }) => program === file)?.binary.sha256 ?? null;
  const digest = sha256 === null ? '' : `  sha256 ${sha256.slice(0, 8)}${cut}, trusted`;
  return [
    ...(runs === given ? [] : [data('runs', runs)]),
    ...(isOne || own.length === 0
      ? [
          {
            ...fact('program', file === null ? 'not resolved' : `${file}${through}${digest}`),
            ...(file === null ? { danger: true as const } : {}),
          },
        ]
      : [segmentsPart(ask, pen)]),
    ...trust.map((finding) => ({ ...fact('trust', `not trusted: ${finding.detail}`), danger: true as const })),
  ];
}

const commandOf = (args: unknown): unknown =>
  typeof args === 'object' && args !== null && !('args' in args) ? Reflect.get(args, 'command') : null;

/** Each command with the program behind its word, and the allowlist entry that covers it or the first failing point. */
function segmentsPart({ preview: { commands } }: Ask, { arrow, cut, dot, fact }: Pen): CardPart {
  const { first, total } = commands ?? { first: [], total: 0 };
  const lines = first.map(({ words, program, revealed, covered_by, why }, index) => {
    const said = words.join(' ');
    const short = [...said].length > 60 ? `${[...said].slice(0, 59).join('')}${cut}` : said;
    const own = `: ${said}`;
    const cause = why?.endsWith(own) === true ? why.slice(0, -own.length) : why;
    const verdict = revealed ? 'inside another' : covered_by === null ? cause : `covered by ${covered_by}`;
    return `${index + 1} ${short} ${arrow} ${program ?? 'not resolved'}${verdict === null ? '' : ` ${dot} ${verdict}`}`;
  });
  const more = total === null ? 'and what could not be read' : `and ${total - first.length} more`;
  return {
    ...fact('segments', ...lines, ...(total === first.length ? [] : [more])),
    foldable: true,
    extra: 'help',
    counted: true,
  };
}

function urlParts({ preview: { url } }: Ask, { fact }: Pen): readonly CardPart[] {
  if (url === undefined) return [];
  const lines = [unicodeLine(url), sendsLine(url)].filter((line) => line !== null);
  const address = `${url.method} ${url.scheme}://${url.host}:${url.port}${url.path}`;
  return [fact('url', address, ...lines)];
}

/** The change with the numbers of its lines; its file is named above, and its size by our own counting. */
function diffParts(ask: Ask, { data, fact, glyphs }: Pen): readonly CardPart[] {
  const { diff, diff_note: note } = ask.preview;
  const follows = followsOf(ask);
  const noted = [
    ...(follows === null ? [] : [fact('made', follows)]),
    ...(note === undefined ? [] : [fact('diff', note)]),
  ];
  if (diff === undefined) return noted;
  const whole = diff.split('\n');
  const hunks = whole.filter((each) => each.startsWith('@@ '));
  const body = withoutHead(whole, hunks.length === 1 && whole.findIndex((each) => each.startsWith('@@ ')) <= 2);
  const shown = data('', body.join('\n'));
  const count = (sign: string) => body.filter((each) => each.startsWith(sign)).length;
  return [
    ...noted,
    ...(note === undefined ? [fact('diff', `${count('+')} added, ${count('-')} removed`)] : []),
    {
      ...shown,
      lines: shown.lines.map((line, index) =>
        markTrailing(hasNoEnd(body, index) ? withoutEnd(line, glyphs) : line, glyphs),
      ),
      numbers: numbersOf(body, hunks[0] ?? '').slice(0, shown.lines.length),
    },
  ];
}

/** Without the names of the two sides, and without the place of a hunk that is the only one. */
function withoutHead(lines: readonly string[], only: boolean): readonly string[] {
  const named = lines[0]?.startsWith('--- ') === true && lines[1]?.startsWith('+++ ') === true;
  const rest = named ? lines.slice(2) : lines;
  return only && rest[0]?.startsWith('@@ ') === true ? rest.slice(1) : rest;
}

/** A line that ends with its file, or the one behind it that says so: what ends it is of the diff, not of the file. */
const hasNoEnd = (lines: readonly string[], index: number): boolean =>
  [lines[index], lines[index + 1]].some((each) => each?.startsWith('\\') === true);

/** Taking the last mark of a safe line leaves it safe; a sign of the text itself would have been escaped. */
const withoutEnd = (line: SafeText, glyphs: Glyphs): SafeText =>
  line.replace(glyphs === 'ascii' ? /<LF>$/ : /⏎$/, '') as SafeText;

/** Of the new file; a line that goes has the one that it had. */
function numbersOf(lines: readonly string[], first: string): readonly string[] {
  let [old, now] = startOf(first);
  return lines.map((each) => {
    if (each.startsWith('@@ ')) {
      [old, now] = startOf(each);
      return '';
    }
    if (each.startsWith('-')) return String(old++);
    if (each.startsWith('+')) return String(now++);
    if (!each.startsWith(' ')) return '';
    old += 1;
    return String(now++);
  });
}

function startOf(hunk: string): [old: number, now: number] {
  const found = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(hunk);
  return [Number(found?.[1] ?? 1), Number(found?.[2] ?? 1)];
}

/** Blanks at the end of a changed line are marked (03 §8); the first column belongs to the diff. */
export function markTrailing(shown: SafeText, glyphs: Glyphs): SafeText {
  if (!/^[+-]/.test(shown)) return shown;
  if (glyphs === 'ascii')
    return shown.replace(/(?<=.) +(?=(?:<CR>)?(?:<LF>)?$)/, ({ length }) => `<blank x ${length}>`) as SafeText;
  // A dot in place of a blank leaves the line as safe as it was.
  return shown.replace(/(?<=.) +(?=␍?⏎?$)/, (blanks) => '·'.repeat(blanks.length)) as SafeText;
}
