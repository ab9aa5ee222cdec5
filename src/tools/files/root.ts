import { type BigIntStats, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { codeOf } from '../../text/thrown.ts';
import { fail, type ToolFailure } from '../failure.ts';
import { listLimit, textLimit } from '../limits.ts';
import type { ToolSite } from '../tool.ts';

/** The root of a call after the chain's `_allowed_dir`, and whether it confines (05 §2.7, amendment 17). */
export type Place = { readonly root: string; readonly confined: boolean; readonly home: string };

export type Identity = { readonly dev: bigint; readonly ino: bigint };

/** A path as it was resolved once, before the gate. What is opened later must be this (05 §4.1.5). */
export type PathFacts = {
  readonly given: string;
  /** Links followed; for a missing target the deepest existing ancestor is real and the rest appended. */
  readonly real: string;
  /** Deepest existing directory above the target. */
  readonly parent: Identity & { readonly path: string };
  /** Directories between `parent` and the target that do not exist. */
  readonly missing: readonly string[];
  readonly name: string;
  /** Of the target itself; null when it does not exist. */
  readonly stat: BigIntStats | null;
  readonly outside_root: boolean;
  /** A link was followed: the real path is not what the text says. */
  readonly link: boolean;
};

const maxPathBytes = 4096;
const maxSegments = 255;
const maxLinks = 40;
const pseudo = ['/proc', '/sys', '/dev'];
const foldsCase = process.platform === 'darwin' || process.platform === 'win32';

/** The root that holds for this call. A chain can only narrow it. */
export function placeOf(site: ToolSite): Place | ToolFailure {
  const wanted = textLimit(site.limits, '_allowed_dir');
  if (wanted === null) return { root: site.root, confined: site.confined, home: site.home };
  const real = realOrNull(isAbsolute(wanted) ? wanted : `${site.root}/${wanted}`);
  if (real === null || !isInside(site.root, real) || !lstatSync(real).isDirectory()) {
    return fail('not_permitted', "The chain's _allowed_dir is not a directory inside the root; correct the chain.", {
      limit: '_allowed_dir',
    });
  }
  return { root: real, confined: true, home: site.home };
}

/** By path segments; without case and in NFC where the file system compares so (05 §4.1.3). */
export function isInside(root: string, real: string): boolean {
  const base = fold(root);
  const path = fold(real);
  return path === base || path.startsWith(base.endsWith('/') ? base : `${base}/`);
}

const fold = (path: string): string => (foldsCase ? path.normalize('NFC').toLowerCase() : path);

/**
 * Resolves a path argument physically: links are followed and `..` applies to the real directory (05 §4.1). Outside the
 * root is a refusal only where the root confines; else it is a fact that the gate judges.
 * @param follow false: a link as the last step is the target itself
 */
export function resolvePath(given: string, place: Place, site: ToolSite, follow = true): PathFacts | ToolFailure {
  const fault = badPath(given);
  if (fault !== null) return fail('bad_path', `The path ${fault}.`);
  const absolute = given.startsWith('~/')
    ? `${place.home}/${given.slice(2)}`
    : isAbsolute(given)
      ? given
      : `${place.root}/${given}`;
  let facts: Found | ToolFailure;
  try {
    facts = locate(absolute, follow, given);
  } catch (error) {
    return unresolved(error, given);
  }
  if ('ok' in facts) return facts;
  // The system takes it for a directory, and a rule that looks at its end for another name.
  if (/\/\.?$/.test(given) && facts.stat !== null && !facts.stat.isDirectory()) {
    return fail('not_found', `"${given}" is no directory, which its end says.`);
  }
  const outside = !isInside(place.root, facts.real);
  if (pseudo.some((base) => isInside(base, facts.real))) {
    return fail('not_regular', `"${given}" belongs to a pseudo file system, which file tools do not use.`);
  }
  if (outside && place.confined) {
    return fail('outside_root', `"${given}" is outside the root of this run. Use a path inside it.`);
  }
  return (
    deniedSubstring(given, facts.real, place, site) ?? {
      given,
      ...facts,
      outside_root: outside,
      link: resolve(absolute) !== facts.real,
    }
  );
}

/** The real path of an absolute one, the missing rest appended; null when it cannot be told. Never throws. */
export function realPathOf(absolute: string): string | null {
  try {
    const found = locate(absolute, true, absolute);
    return 'ok' in found ? null : found.real;
  } catch {
    return null;
  }
}

/**
 * The facts of a real path that is known from before; null when something else is there now: a link where a directory or
 * the file was, or nothing that leads there. Never throws.
 */
export function factsOfReal(real: string): PathFacts | null {
  try {
    const found = locate(real, false, real);
    if ('ok' in found || found.real !== real || found.stat?.isFile() === false) return null;
    return { given: real, ...found, outside_root: false, link: false };
  } catch {
    return null;
  }
}

function unresolved(error: unknown, given: string): ToolFailure {
  const code = codeOf(error) ?? 'UNKNOWN';
  if (code === 'ELOOP') return fail('bad_path', `"${given}" goes through too many links, or through a loop of links.`);
  if (code === 'ENAMETOOLONG') return fail('bad_path', `"${given}" has a name that the file system does not accept.`);
  return fail('io_error', `"${given}" could not be resolved: ${code}.`, { code });
}

/** @returns the end of a sentence about the path, or null. */
function badPath(path: string): string | null {
  const bytes = Buffer.byteLength(path);
  if (bytes < 1 || bytes > maxPathBytes) return `must be 1 to ${maxPathBytes} bytes long`;
  // A shell reads it as the home directory, and for the rules it is a name in the workspace.
  if (path === '~') return '"~" is not expanded here: write ~/ for the home directory, ./~ for a name in the workspace';
  if (path.split('/').length > maxSegments) return `has more than ${maxSegments} segments`;
  const control = /[\u0000-\u001f\u007f-\u009f]/.exec(path);
  if (control !== null) {
    const point = control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `contains the control character U+${point} at position ${control.index}`;
  }
  return process.platform === 'win32' ? badWindowsPath(path) : null;
}

/** None of these may reach the network or a device (05 §4.1.1). */
function badWindowsPath(path: string): string | null {
  if (/^[\\/]{2}/.test(path)) return 'is a network or device path';
  if (/^[A-Za-z]:(?![\\/])/.test(path)) return 'is relative to a drive';
  if (path.replace(/^[A-Za-z]:/, '').includes(':')) return 'contains a colon';
  if (path.split(/[\\/]/).some((part) => /[. ]$/.test(part) && !/^\.\.?$/.test(part))) {
    return 'has a segment that ends in a dot or a blank';
  }
  return null;
}

type Found = Omit<PathFacts, 'given' | 'outside_root' | 'link'>;

function locate(absolute: string, follow: boolean, given: string): Found | ToolFailure {
  const last = absolute.slice(absolute.lastIndexOf('/') + 1);
  if (!follow && last !== '' && last !== '.' && last !== '..') {
    const parent = realOrNull(absolute.slice(0, absolute.lastIndexOf('/')) || '/');
    if (parent !== null) return existing(join(parent, last));
  }
  const real = realOrNull(absolute);
  return real === null ? walk(absolute, given) : existing(real);
}

/** @throws what the system says, but for a missing path. */
function realOrNull(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

function existing(real: string): Found {
  const path = dirname(real);
  const { dev, ino } = statSync(path, { bigint: true });
  const stat = lstatSync(real, { bigint: true, throwIfNoEntry: false }) ?? null;
  return { real, parent: { path, dev, ino }, missing: [], name: basename(real), stat };
}

/** Component by component, for a path whose end does not exist. A link into nothing is followed as well. */
function walk(absolute: string, given: string): Found | ToolFailure {
  let at = '/';
  let rest = absolute.split('/');
  for (let links = 0; rest.length > 0; ) {
    const [step = '', ...after] = rest;
    rest = after;
    if (step === '' || step === '.') continue;
    if (step === '..') {
      at = dirname(at);
      continue;
    }
    const next = join(at, step);
    const stat = lstatSync(next, { throwIfNoEntry: false });
    if (stat === undefined) return missing(at, [step, ...rest], given);
    if (stat.isSymbolicLink()) {
      links += 1;
      if (links > maxLinks) return fail('bad_path', `"${given}" goes through more than ${maxLinks} links.`);
      const target = readlinkSync(next);
      rest = [...target.split('/'), ...rest];
      if (isAbsolute(target)) at = '/';
    } else if (!stat.isDirectory() && rest.some((part) => part !== '' && part !== '.')) {
      return fail('not_found', `"${given}" goes through "${step}", which is not a directory.`);
    } else {
      at = next;
    }
  }
  return existing(at);
}

function missing(at: string, rest: readonly string[], given: string): Found | ToolFailure {
  const parts = rest.filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) return fail('bad_path', `"${given}" applies ".." to a directory that does not exist.`);
  const { dev, ino } = statSync(at, { bigint: true });
  return {
    real: join(at, ...parts),
    parent: { path: at, dev, ino },
    missing: parts.slice(0, -1),
    name: parts.at(-1) ?? '',
    stat: null,
  };
}

/** `_denied_path_substrings`, tested on the slash form of given and real path relative to the root (05 §4.3). */
export function deniedSubstring(given: string, real: string, place: Place, site: ToolSite): ToolFailure | null {
  const denied = listLimit(site.limits, '_denied_path_substrings');
  if (denied === null) return null;
  const relative = isInside(place.root, real) ? real.slice(place.root.length) : real;
  const hit = denied.find((part) => given.includes(part) || relative.includes(part));
  if (hit === undefined) return null;
  return fail('not_permitted', `"${given}" contains "${hit}", which the chain's _denied_path_substrings excludes.`, {
    limit: '_denied_path_substrings',
  });
}
