import type { Command, Flag } from './command.ts';
import type { GivenFlag, Scan } from './scan.ts';
import { flagText, readValue, type ValueSite } from './values.ts';

/** Values of the flags that were given, read by their kinds; a flag that was not given is null or an empty list. */
export type Flags = {
  text(name: string): string | null;
  number(name: string): number | null;
  bool(name: string): boolean | null;
  list(name: string): readonly string[];
  has(name: string): boolean;
};

/** A validated command line. */
export type Invocation = {
  /** `session list`; empty when no command was given. */
  readonly name: string;
  readonly command: Command | null;
  readonly implicit: boolean;
  readonly words: readonly string[];
  readonly flags: Flags;
};

type Raw = Readonly<Record<string, unknown>>;

/**
 * Reads the flags of a scanned command line through meow, then each value by its kind.
 * @param importMeta that of the entry point, which alone knows where it is
 * @throws RuntimeError usage for a value that its kind refuses
 */
export async function parse(scan: Scan, importMeta: ImportMeta, site: ValueSite): Promise<Invocation> {
  const raw = scan.flags.length === 0 ? {} : await parseWithMeow(scan.flags, importMeta);
  const values = new Map<string, string | number | boolean | readonly string[]>();
  for (const { flag } of scan.flags) {
    if (values.has(flag.name)) continue;
    const value = raw[camelCase(flag.name)];
    if (flag.kind === 'boolean') values.set(flag.name, value === true);
    else if (flag.kind === 'list') values.set(flag.name, Array.isArray(value) ? value.map(String) : []);
    else values.set(flag.name, readValue(flag, String(value ?? ''), flagText(flag), site));
  }
  return {
    name: scan.path.map((entry) => entry.name).join(' '),
    command: scan.path.at(-1) ?? null,
    implicit: scan.implicit,
    words: scan.words,
    flags: flagsFrom(values),
  };
}

/**
 * The scanner has brought every flag to `--name=value`, so a value may begin with `-` (06 §1.1.4). meow is imported
 * here and only when there is a flag to parse: it costs about 25 ms, as much as opening the database.
 */
async function parseWithMeow(given: readonly GivenFlag[], importMeta: ImportMeta): Promise<Raw> {
  const { default: meow } = await import('meow');
  const options: Record<string, { type: 'boolean' | 'string'; isMultiple?: boolean }> = {};
  for (const { flag } of given) options[camelCase(flag.name)] = optionOf(flag);
  const parsed = meow({
    importMeta,
    pkg: { name: 'reins' },
    // meow takes one pair of quotes off every value, also off `--input='"x"'`: it gets a pair of ours to take.
    argv: given.map(({ flag, text }) => `--${flag.name}=${flag.kind === 'boolean' ? text : `"${text ?? ''}"`}`),
    flags: options,
    autoHelp: false,
    autoVersion: false,
    description: false,
  });
  return parsed.flags;
}

function optionOf(flag: Flag): { type: 'boolean' | 'string'; isMultiple?: boolean } {
  if (flag.kind === 'boolean') return { type: 'boolean' };
  return flag.kind === 'list' ? { type: 'string', isMultiple: true } : { type: 'string' };
}

const camelCase = (name: string) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** A reader over values; the kinds were checked when they were read. */
function flagsFrom(values: ReadonlyMap<string, string | number | boolean | readonly string[]>): Flags {
  return {
    text: (name) => {
      const value = values.get(name);
      return typeof value === 'string' ? value : null;
    },
    number: (name) => {
      const value = values.get(name);
      return typeof value === 'number' ? value : null;
    },
    bool: (name) => {
      const value = values.get(name);
      return typeof value === 'boolean' ? value : null;
    },
    list: (name) => {
      const value = values.get(name);
      return Array.isArray(value) ? value : [];
    },
    has: (name) => values.has(name),
  };
}
