import type { CommandWord } from '../schema/command.ts';
import { baseName } from './programs.ts';

/** Files that commands write by their words: what they fetch, copy and compile. */

const words = (text: string): readonly string[] => text.split(' ');

/** Programs that put what they fetch or decode into the file of such an option. */
const fetchers: ReadonlySet<string> = new Set(words('curl wget aria2c dd base64 openssl xxd uudecode gpg'));
const output = /^(?:-[A-Za-z]*[oO]|--out(?:put)?(?:-document)?|--dir)$/;
const attached = /^(?:of=|--out(?:put)?(?:-document)?=|-[oO](?=[^-]))(.+)$/;

/** Copying, moving and linking: the last operand is what each one before it becomes. */
const copying: ReadonlySet<string> = new Set(words('cp mv ln install gcp gmv gln ginstall rsync'));

/** A file that a command writes by its words: what it reads, what nobody sees, a text of its own, or another file. */
type Written = {
  readonly path: string;
  readonly given:
    | 'input'
    | 'unseen'
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'file'; readonly path: string }
    /** A program that is made of it. */
    | { readonly kind: 'built'; readonly path: string };
};

export function filesWritten(command: readonly CommandWord[]): readonly Written[] {
  const [program, ...rest] = command;
  const name = baseName(program?.text ?? '');
  const operands = rest.filter(({ text }) => !text.startsWith('-')).map(({ text }) => text);
  if (name === 'tee' || name === 'sponge') return operands.map((path) => ({ path, given: 'input' }));
  if (copying.has(name)) {
    const [target, ...sources] = operands.reverse();
    return target === undefined ? [] : sources.map((path) => ({ path: target, given: { kind: 'file', path } }));
  }
  if (operands[0] === 'pkg' && operands[1] === 'set') return scriptsSet(operands.slice(2));
  const built = builtBy(name, rest);
  if (built.length > 0 || !fetchers.has(name)) return built;
  const paths = rest.flatMap(({ text }, index) => [
    ...(output.test(rest[index - 1]?.text ?? '') ? [text] : []),
    ...(attached.exec(text)?.slice(1) ?? []),
  ]);
  return paths.map((path) => ({ path, given: 'unseen' }));
}

/** `npm pkg set scripts.name=line` */
const scriptsSet = (settings: readonly string[]): readonly Written[] =>
  settings.flatMap((setting) => {
    const [, name, line] = /^scripts[.[]["']?(.+?)["']?\]?=(.*)$/s.exec(setting) ?? [];
    if (name === undefined || line === undefined) return [];
    return [{ path: 'package.json', given: { kind: 'text', text: JSON.stringify({ scripts: { [name]: line } }) } }];
  });

/** Compilers, of which a product runs what its source says; the names of theirs that they give themselves. */
const compilers: ReadonlySet<string> = new Set(
  words(
    'gcc g++ cc c++ clang clang++ c99 tcc rustc ghc gfortran ocamlc ocamlopt fpc dmd ldc2 nim crystal zig v odin kotlinc go ' +
      'swiftc valac mcs csc gdc gnatmake',
  ),
);

/** A compiler is told its product, or names it like its source or `a.out`; `make x` makes `x` of `x.c`. */
function builtBy(name: string, rest: readonly CommandWord[]): readonly Written[] {
  const texts = rest.map(({ text }) => text);
  const operands = texts.filter((text) => text === '-' || /^[^-].*\.\w{1,5}$/.test(text));
  if (/^[bg]?make$/.test(name)) {
    return texts
      .filter((text) => /^[\w./-]+$/.test(text) && !text.startsWith('-'))
      .flatMap((path) => words('.c .cc .cpp .o').map((end) => built(path, `${path}${end}`)));
  }
  if (!compilers.has(name.replace(/-[0-9.]+$/, ''))) return [];
  const told = texts.flatMap((text, index) => {
    const found = /^(?:-o|--output=?|-femit-bin=)(.*)$/.exec(text)?.[1];
    return found === undefined ? [] : [found === '' ? (texts[index + 1] ?? '') : found];
  });
  return operands.flatMap((source) => {
    const stem = baseName(source).replace(/\.\w+$/, '');
    return (told.length > 0 ? told : ['a.out', stem, `${stem}.o`]).map((path) => built(path, source));
  });
}

const built = (path: string, source: string): Written => ({ path, given: { kind: 'built', path: source } });
