/** How the system starts a file, judged by its first bytes (02 §10.2). */
export type Interpreter =
  /** A program of its own. */
  | { readonly kind: 'none' }
  | { readonly kind: 'file'; readonly path: string; readonly argument: string | null }
  /** `#!…/env NAME`: `path` starts what `name` is looked up as. */
  | { readonly kind: 'env'; readonly path: string; readonly name: string }
  | { readonly kind: 'unclear'; readonly why: string };

/** How much of a file Linux reads to find its interpreter, in bytes; other systems read more. */
export const headBytes = 256;

const elf = '\x7fELF';
/** Mach-O, thin and universal, in both byte orders. */
const machO = ['\xfe\xed\xfa\xce', '\xfe\xed\xfa\xcf', '\xce\xfa\xed\xfe', '\xcf\xfa\xed\xfe', '\xca\xfe\xba\xbe'];

/** @param head the first `headBytes` bytes, one character each */
export function interpreterOf(head: string, platform: string): Interpreter {
  if (platform === 'win32') return { kind: 'none' };
  if (head.startsWith('#!')) return readLine(head);
  const native = platform === 'darwin' ? machO.some((magic) => head.startsWith(magic)) : head.startsWith(elf);
  // What the system refuses to load is handed to the shell by those who start programs (execvp).
  return native ? { kind: 'none' } : { kind: 'file', path: '/bin/sh', argument: null };
}

function readLine(head: string): Interpreter {
  const end = head.search(/[\n\0]/);
  if (end === -1 && head.length >= headBytes) return { kind: 'unclear', why: 'its #! line is longer than 256 bytes' };
  const line = (end === -1 ? head : head.slice(0, end)).slice(2).replace(/^[ \t]+|[ \t]+$/g, '');
  const blank = line.search(/[ \t]/);
  const path = blank === -1 ? line : line.slice(0, blank);
  const argument = blank === -1 ? null : line.slice(blank).replace(/^[ \t]+/, '');
  if (!path.startsWith('/')) return { kind: 'unclear', why: `its interpreter is no absolute path: ${path}` };
  if (path.slice(path.lastIndexOf('/') + 1) !== 'env') return { kind: 'file', path, argument };
  if (argument === null) return { kind: 'unclear', why: `${path} is given no name` };
  // The whole rest of the line is one argument; options and assignments before the name are not followed.
  if (/^-|[= \t/]/.test(argument))
    return { kind: 'unclear', why: `what ${path} starts is not a plain name: ${argument}` };
  return { kind: 'env', path, name: argument };
}
