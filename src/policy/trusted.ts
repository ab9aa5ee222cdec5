import type {
  BinaryFact,
  PolicyHost,
  TrustedBinaries,
  TrustedFile,
  TrustedStart,
  TrustFinding,
  TrustReason,
} from '../schema/policy.ts';
import { manyNamed, programName } from './analysis.ts';
import { interpreterOf } from './interpreter.ts';
import { isLauncher } from './programs.ts';
import type { Scope } from './scope.ts';

/** What `trusted_binaries` says of the programs of a line: the first finding, or how each of them starts. */
export type Trusted = { readonly finding: TrustFinding | null; readonly starts: readonly TrustedStart[] };

/** The block when it has an entry; an empty one changes nothing (02 §10.1). */
export const gating = (block: TrustedBinaries | null): TrustedBinaries | null =>
  block !== null && (block.dirs.length > 0 || Object.keys(block.hashes).length > 0) ? block : null;

/** Deepest chain of interpreters (02 §10.2). */
const maxDepth = 4;

/**
 * Judges the programs of a call against its document: also where they were refused already, if every command is covered
 * when program words are compared by basename (02 §10.1). Null when the block has nothing to say. Every program is
 * looked at, so that all digests which have to be taken are asked for at once.
 * @param commands of the line as it is run, in their order
 */
export function judgeTrust(
  entries: readonly (readonly string[])[],
  commands: readonly (readonly string[])[],
  { host, trusted }: Scope,
): Trusted | null {
  if (trusted === null || commands.length === 0) return null;
  const isCovered = ([word = '', ...words]: readonly string[]): boolean =>
    entries.some(
      ([program = '', ...rest]) =>
        programName(program, host) === programName(word, host) && rest.every((text, index) => text === words[index]),
    );
  if (!commands.every(isCovered)) return null;
  const judged = commands.map(([word = '']) => judgeProgram(word, trusted, host));
  const failed = judged.find((one) => 'reason' in one);
  if (failed !== undefined && 'reason' in failed) return { finding: failed, starts: [] };
  return { finding: null, starts: judged.filter((one) => 'binary' in one) };
}

/**
 * The files that starting a program loads: itself, and the interpreters of its `#!` lines. What `policy trust` declares
 * is what an evaluation would ask for, resolved the same way (02 §14.7).
 */
export function programFiles(word: string, host: PolicyHost): readonly string[] | TrustFinding {
  const judged = judgeProgram(word, { dirs: [], hashes: {} }, host);
  if ('reason' in judged) return judged;
  const ungrantable = host.resolveProgram(word, host.cwd)?.ungrantable ?? null;
  if (ungrantable === null) return [...new Set([...judged.scripts, judged.binary].map(({ real }) => real))];
  const why = `${judged.program}: no allowlist grants a program that tools can write`;
  return { reason: 'unsafe_permissions', program: word, path: judged.program, detail: `${ungrantable}: ${why}` };
}

/** Resolves, compares with `dirs` and `hashes`, and follows the `#!` lines (02 §10.2, §10.3). */
function judgeProgram(word: string, block: TrustedBinaries, host: PolicyHost): TrustFinding | TrustedStart {
  const found = located(word, host);
  if ('reason' in found) return finding(word, found);
  const fault = faultOf(found.real, block, host);
  if ('reason' in fault) return finding(word, fault);
  const chain = followed(found.real, fault, block, host);
  return 'reason' in chain ? finding(word, chain) : { ...chain, program: found.real };
}

type Fault = { readonly reason: TrustReason; readonly path: string | null; readonly why: string };

const finding = (program: string, { reason, path, why }: Fault): TrustFinding => ({
  reason,
  program,
  path,
  detail: `${reason}: ${why}`,
});

/** The file behind a program word, where 02 §9.5 lets one be executed. */
function located(word: string, host: PolicyHost): { readonly real: string } | Fault {
  const relative = { reason: 'relative', path: null } as const;
  if (word.includes('/') && !word.startsWith('/')) return { ...relative, why: `${word} is a relative path` };
  const program = host.resolveProgram(word, host.cwd);
  const hit = `${word} is found through a relative element of PATH`;
  if (program === null && host.foundRelative(word, host.cwd)) return { ...relative, why: hit };
  if (program === null) return { reason: 'unresolved', path: null, why: `there is no program ${word}` };
  if (program.ungrantable === 'relative') return { ...relative, why: hit };
  if (program.ungrantable === 'unsafe_permissions') {
    return { reason: 'unsafe_permissions', path: program.real, why: `${program.real} can be written by others` };
  }
  return { real: program.real };
}

type ReadFact = Extract<BinaryFact, { state: 'read' }>;

/** One file against the two lists, which are independent of each other (02 §10.3). */
function faultOf(real: string, { dirs, hashes }: TrustedBinaries, host: PolicyHost): Fault | ReadFact {
  const hashed = Object.keys(hashes).length > 0;
  const fault = (reason: TrustReason, why: string): Fault => ({ reason, path: real, why: `${real} ${why}` });
  if (dirs.length > 0 && !dirs.some((dir) => isBelow(real, host.realPath(dir), host.platform))) {
    return fault('outside_dirs', 'lies in no trusted directory');
  }
  const declared = hashed && Object.hasOwn(hashes, real) ? hashes[real]?.toLowerCase() : undefined;
  if (hashed && declared === undefined) return fault('undeclared', 'has no declared digest');
  const fact = host.binary(real, hashed);
  if (fact.state === 'unreadable') return fault('unreadable', `cannot be read: ${fact.message}`);
  if (fact.state === 'unhashed') return fault('unreadable', 'is not hashed');
  if (dirs.length > 0 && fact.others_write) return fault('unsafe_permissions', 'can be written by others');
  return hashed && fact.sha256 !== declared ? fault('mismatch', `has the digest ${fact.sha256}`) : fact;
}

/** Whether a real path lies below a real directory, by whole segments: `/usr/bin-x` is not below `/usr/bin`. */
export function isBelow(real: string, directory: string, platform: string): boolean {
  const plain = (path: string): string => (platform === 'win32' ? path.replaceAll('\\', '/').toLowerCase() : path);
  const above = plain(directory);
  return plain(real).startsWith(above.endsWith('/') ? above : `${above}/`);
}

/** Follows the interpreters of a program that is itself trusted, as the system and `env` would. */
function followed(
  program: string,
  fact: ReadFact,
  block: TrustedBinaries,
  host: PolicyHost,
): Omit<TrustedStart, 'program'> | Fault {
  const scripts: TrustedFile[] = [];
  let at = { real: program, fact };
  let before: readonly string[] = [];
  let argv0: string | null = null;
  for (let depth = 0; ; depth += 1) {
    const interpreter = interpreterOf(at.fact.head, host.platform);
    if (interpreter.kind === 'none') return { binary: trustedFile(at), argv0, before, scripts };
    const bad = (why: string, path: string | null = null): Fault => ({
      reason: 'interpreter',
      path,
      why: `of ${at.real}: ${why}`,
    });
    if (interpreter.kind === 'unclear') return bad(interpreter.why);
    if (depth === maxDepth) return bad(`more than ${maxDepth} interpreters stand behind ${program}`);
    const first = interpreterFile(interpreter.path, block, host);
    if ('why' in first) return bad(first.why, first.path);
    // What such a program starts in its turn would be judged by nobody; of `env` it is known, by its own name.
    const launcher = interpreter.kind === 'file' ? launcherBehind(interpreter.path, first.real, host) : null;
    if (launcher !== null) return bad(launcher, first.real);
    scripts.push(trustedFile(at));
    if (interpreter.kind === 'env') {
      // What `env` would look up is started directly, so that it is not looked up again.
      const named = interpreterFile(interpreter.name, block, host);
      if ('why' in named) return bad(`${interpreter.path} ${interpreter.name}: ${named.why}`, named.path);
      scripts.push(trustedFile(first));
      before = [at.real, ...before];
      argv0 = interpreter.name;
      at = named;
    } else {
      before = [...(interpreter.argument === null ? [] : [interpreter.argument]), at.real, ...before];
      argv0 = interpreter.path;
      at = first;
    }
  }
}

/** Why an interpreter starts another program than the script that names it; null where it does not. */
function launcherBehind(path: string, real: string, host: PolicyHost): string | null {
  const [name, file] = [programName(path, host), programName(real, host)];
  // One file of many names is what it is called, and by its own name it is called to start one of them.
  if (isLauncher(name) || name === 'coreutils') return `${path} starts another program`;
  return !manyNamed.has(file) && isLauncher(file) ? `${path} is ${file} under another name` : null;
}

/** An interpreter is judged like a program, and lies where no tool may put one. */
function interpreterFile(
  word: string,
  block: TrustedBinaries,
  host: PolicyHost,
): { readonly real: string; readonly fact: ReadFact } | Fault {
  const found = located(word, host);
  if ('reason' in found) return found;
  const { ungrantable } = host.resolveProgram(word, host.cwd) ?? { ungrantable: 'unresolved' };
  if (ungrantable !== null) return { reason: 'interpreter', path: found.real, why: `${found.real}: ${ungrantable}` };
  const fact = faultOf(found.real, block, host);
  return 'reason' in fact ? { ...fact, why: `${fact.reason}: ${fact.why}` } : { real: found.real, fact };
}

const trustedFile = ({ real, fact }: { readonly real: string; readonly fact: ReadFact }): TrustedFile => ({
  real,
  identity: fact.identity,
  sha256: fact.sha256,
  young: fact.young,
});
