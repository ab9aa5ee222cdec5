import type { CommandWord } from '../schema/command.ts';

/** Programs that write files whose names stand in an archive: where they put them, no word says more than the directory. */

const here: CommandWord = { text: '.', path: '.', open: false };

type Unpacker = {
  /** The words by which it unpacks; null where it does so unless one of `looks` is there. */
  readonly by: RegExp | null;
  /** The words by which it only looks, or writes to its output. */
  readonly looks: RegExp;
  /** The option that names the directory. */
  readonly into: RegExp;
};

const tar: Unpacker = {
  by: /^-?[A-Za-z]*x|^--(extract|get)$/,
  looks: /^-?[A-Za-z]*O|^--to-(stdout|command)/,
  into: /^(?:-C|--directory(?:=|$))/,
};
const sevenZip: Unpacker = { by: /^[xe]$/, looks: /^-so$/, into: /^-o/ };

const unpackers: Readonly<Record<string, Unpacker>> = {
  tar,
  gtar: tar,
  bsdtar: tar,
  unzip: { by: null, looks: /^-[A-Za-z]*[lptvzZ]/, into: /^-d/ },
  cpio: {
    by: /^-[A-Za-z]*[ip]|^--(extract|pass-through)$/,
    looks: /^-[A-Za-z]*t|^--(list|to-stdout)/,
    into: /^(?:-D|--directory(?:=|$))/,
  },
  pax: { by: /^-[A-Za-z]*r/, looks: /^$/, into: /^$/ },
  '7z': sevenZip,
  '7za': sevenZip,
  '7zz': sevenZip,
  unrar: { by: /^[xe]$/, looks: /^$/, into: /^-op/ },
  unar: { by: null, looks: /^$/, into: /^(?:-o|--output-directory(?:=|$))/ },
  jar: { by: /^-?[a-z]*x|^--extract$/, looks: /^$/, into: /^(?:-C|--dir(?:=|$))/ },
};

const passes: Readonly<Record<string, RegExp>> = { cpio: /-[A-Za-z]*p/, pax: /-[A-Za-z]*(?:r.*w|w.*r)/ };

/** The directories into which a command unpacks whatever an archive holds; none where it names what it takes out. */
export function unpackedInto(name: string, rest: readonly CommandWord[]): readonly CommandWord[] {
  const unpacker = Object.hasOwn(unpackers, name) ? unpackers[name] : undefined;
  if (unpacker === undefined) return [];
  const { by, looks, into } = unpacker;
  // The letters of `tar` may stand without a dash, in its first word alone.
  const options = rest.filter(({ text }, index) => text.startsWith('-') || (index === 0 && by !== null));
  if (by !== null && !options.some(({ text }) => by.test(text))) return [];
  if (options.some(({ text }) => looks.test(text)) || namesMembers(name, rest)) return [];
  const given = rest.flatMap((word, index): readonly CommandWord[] => {
    const option = into.exec(word.text)?.[0];
    if (option === undefined) return [];
    if (word.text !== option)
      return [{ ...word, text: word.text.slice(option.length), path: word.path.slice(option.length) }];
    const next = rest[index + 1];
    return next === undefined ? [] : [next];
  });
  if (given.length > 0) return given;
  // What is passed on goes to the last operand.
  const passed = passes[name]?.test(options.map(({ text }) => text).join(' ')) === true ? rest.at(-1) : undefined;
  return [passed ?? here];
}

/** Behind the archive stand names of what is taken out of it: they are judged as words. */
function namesMembers(name: string, rest: readonly CommandWord[]): boolean {
  // They may get other names on the way.
  if (rest.some(({ text }) => /^--(?:transform|xform)|^-s/.test(text))) return false;
  const words = rest.filter(
    ({ text }, index) =>
      !text.startsWith('-') && !/^(?:-?[A-Za-z]*f|-[CdxT]|--directory|--file)$/.test(rest[index - 1]?.text ?? ''),
  );
  const archive = /tar$/.test(name)
    ? rest[0]?.text.startsWith('-') === true
      ? 0
      : 1
    : name === 'unzip'
      ? 1
      : words.length;
  const members = words.slice(archive);
  return members.length > 0 && members.every(({ text, open }) => !open && !/^\.?\/*$|[*?[]/.test(text));
}
