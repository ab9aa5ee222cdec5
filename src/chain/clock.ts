/**
 * Time by reference layouts (04 §10.1): `2006-01-02T15:04:05Z07:00` says how the instant 2006-01-02 15:04:05 would be
 * written. What is no element is literal text.
 */

/** An instant as a wall clock shows it. */
type Clock = {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
  /** Minutes east of UTC. */
  readonly offset: number;
  /** The abbreviation of the zone; costs the zone database, so it is asked for only where a layout shows it. */
  zone(): string;
};

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

const two = (value: number): string => String(value).padStart(2, '0');
const hour12 = (clock: Clock): number => clock.hour % 12 || 12;
const dayOfYear = (clock: Clock): number =>
  Math.round((Date.UTC(2000, clock.month - 1, clock.day) - Date.UTC(2000, 0, 1)) / 86_400_000) +
  // 2000 is a leap year.
  (isLeap(clock.year) || clock.month < 3 ? 1 : 0);
const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const weekday = (clock: Clock): string =>
  weekdays[new Date(Date.UTC(clock.year, clock.month - 1, clock.day)).getUTCDay()] ?? '';

function offset(clock: Clock, colon: string, withMinutes: boolean): string {
  const minutes = Math.abs(clock.offset);
  const hours = `${clock.offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}`;
  return withMinutes ? `${hours}${colon}${two(minutes % 60)}` : hours;
}

/** Elements in the order in which they are tried: a longer one stands before its beginnings. */
const elements: readonly (readonly [string, (clock: Clock) => string])[] = [
  ['2006', (clock) => String(clock.year).padStart(4, '0')],
  ['January', (clock) => months[clock.month - 1] ?? ''],
  ['Jan', (clock) => (months[clock.month - 1] ?? '').slice(0, 3)],
  ['Monday', weekday],
  ['Mon', (clock) => weekday(clock).slice(0, 3)],
  ['MST', (clock) => clock.zone()],
  ['002', (clock) => String(dayOfYear(clock)).padStart(3, '0')],
  ['01', (clock) => two(clock.month)],
  ['02', (clock) => two(clock.day)],
  ['03', (clock) => two(hour12(clock))],
  ['04', (clock) => two(clock.minute)],
  ['05', (clock) => two(clock.second)],
  ['06', (clock) => two(clock.year % 100)],
  ['15', (clock) => two(clock.hour)],
  ['1', (clock) => String(clock.month)],
  ['2', (clock) => String(clock.day)],
  ['_2', (clock) => String(clock.day).padStart(2, ' ')],
  ['3', (clock) => String(hour12(clock))],
  ['4', (clock) => String(clock.minute)],
  ['5', (clock) => String(clock.second)],
  ['PM', (clock) => (clock.hour < 12 ? 'AM' : 'PM')],
  ['pm', (clock) => (clock.hour < 12 ? 'am' : 'pm')],
  ['Z07:00', (clock) => (clock.offset === 0 ? 'Z' : offset(clock, ':', true))],
  ['Z0700', (clock) => (clock.offset === 0 ? 'Z' : offset(clock, '', true))],
  ['-07:00', (clock) => offset(clock, ':', true)],
  ['-0700', (clock) => offset(clock, '', true)],
  ['-07', (clock) => offset(clock, '', false)],
];

const seconds: ReadonlySet<string> = new Set(['05', '5']);

type Piece = { readonly text: string; readonly show: ((clock: Clock) => string) | null };

/** Takes a layout apart. `show` is null for literal text. */
function pieces(layout: string): Piece[] {
  const found: Piece[] = [];
  let at = 0;
  while (at < layout.length) {
    const element = elementAt(layout, at);
    if (element === null) {
      found.push({ text: layout.charAt(at), show: null });
      at += 1;
      continue;
    }
    found.push({ text: element[0], show: element[1] });
    at += element[0].length;
    const fraction = seconds.has(element[0]) ? fractionAt(layout, at) : '';
    if (fraction !== '') {
      found.push({ text: fraction, show: (clock) => shownFraction(fraction, clock.millisecond) });
      at += fraction.length;
    }
  }
  return found;
}

function elementAt(layout: string, at: number): (typeof elements)[number] | null {
  // `_2006` is a literal underscore before the year.
  if (layout.startsWith('_2006', at)) return null;
  const element = elements.find(([text]) => layout.startsWith(text, at)) ?? null;
  // `Jan` and `Mon` inside a longer word are no elements (`Month`).
  if (element !== null && (element[0] === 'Jan' || element[0] === 'Mon') && /[a-z]/.test(layout.charAt(at + 3))) {
    return null;
  }
  return element;
}

/** `.000…` or `.999…` at this place, else empty. */
function fractionAt(layout: string, at: number): string {
  const match = /\.(?:0+|9+)(?!\d)/y;
  match.lastIndex = at;
  return match.exec(layout)?.[0] ?? '';
}

function shownFraction(fraction: string, millisecond: number): string {
  const digits = String(millisecond)
    .padStart(3, '0')
    .padEnd(fraction.length, '0')
    .slice(0, fraction.length - 1);
  if (fraction.charAt(1) === '0') return `.${digits}`;
  const significant = digits.replace(/0+$/, '');
  return significant === '' ? '' : `.${significant}`;
}

/** Layout names of the reference library, which this language does not take (04 §10.1). */
const names: ReadonlySet<string> = new Set([
  'Layout',
  'ANSIC',
  'UnixDate',
  'RubyDate',
  'RFC822',
  'RFC822Z',
  'RFC850',
  'RFC1123',
  'RFC1123Z',
  'RFC3339',
  'RFC3339Nano',
  'Kitchen',
  'Stamp',
  'StampMilli',
  'StampMicro',
  'StampNano',
  'DateTime',
  'DateOnly',
  'TimeOnly',
]);

/** True when a layout comes out as it is: the name of one, or a text without any element (`YYYY`). */
export const isLiteralLayout = (layout: string): boolean =>
  names.has(layout) || pieces(layout).every((piece) => piece.show === null);

/**
 * Writes an instant by a layout.
 * @param now milliseconds since the epoch
 * @param timezone IANA name; empty = the zone of this process. A name that is not known counts as UTC.
 */
export function formatTime(now: number, timezone: string, layout: string): string {
  if (names.has(layout)) return layout;
  const clock = clockOf(now, timezone);
  return pieces(layout)
    .map((piece) => (piece.show === null ? piece.text : piece.show(clock)))
    .join('');
}

function clockOf(now: number, timezone: string): Clock {
  // The zone database costs tens of milliseconds at its first use, the clock of the process next to nothing.
  if (timezone === '') return shifted(now, -new Date(now).getTimezoneOffset(), () => zoneName(now, undefined));
  if (timezone === 'UTC') return shifted(now, 0, () => 'UTC');
  try {
    return shifted(now, zoneOffset(now, timezone), () => zoneName(now, timezone));
  } catch {
    return shifted(now, 0, () => 'UTC');
  }
}

function shifted(now: number, offsetMinutes: number, zone: () => string): Clock {
  const local = new Date(now + offsetMinutes * 60_000);
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth() + 1,
    day: local.getUTCDate(),
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
    second: local.getUTCSeconds(),
    millisecond: local.getUTCMilliseconds(),
    offset: offsetMinutes,
    zone,
  };
}

/** Minutes east of UTC. @throws RangeError for a name that is no zone */
function zoneOffset(now: number, timezone: string): number {
  const part = zonePart(now, timezone, 'longOffset');
  const match = /^GMT(?:([+-])(\d\d):(\d\d))?/.exec(part);
  const minutes = Number(match?.[2] ?? 0) * 60 + Number(match?.[3] ?? 0);
  return match?.[1] === '-' ? -minutes : minutes;
}

const zoneName = (now: number, timezone: string | undefined): string => zonePart(now, timezone, 'short');

function zonePart(now: number, timezone: string | undefined, timeZoneName: 'short' | 'longOffset'): string {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZoneName,
    ...(timezone === undefined ? {} : { timeZone: timezone }),
  });
  return format.formatToParts(new Date(now)).find((part) => part.type === 'timeZoneName')?.value ?? '';
}
