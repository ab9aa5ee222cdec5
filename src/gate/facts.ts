import { opendirSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { readsLines } from '../policy/compile.ts';
import type { EvaluateOptions } from '../policy/evaluate.ts';
import { instructionsName } from '../schema/instructions.ts';
import type { LoadedPolicy, PolicyHost } from '../schema/policy.ts';
import { loadParser, readOtherLine } from '../shell/read-line.ts';
import type { Binaries } from './binaries.ts';
import { filesLike } from './files-like.ts';
import { createGuards } from './guarded.ts';
import type { Machine } from './machine.ts';
import { createSight, leadsThroughProcess, realPath } from './real-path.ts';
import { createPrograms } from './programs.ts';
import { createTracked } from './tracked.ts';
import { findRepository, readText } from './repository.ts';

/** The machine as one call sees it. */
export type CallHost = PolicyHost & {
  /** Takes the digests that an evaluation asked for. @returns whether to evaluate again. Never rejects. */
  hashAsked(): Promise<boolean>;
  /** Device and inode of what a real path names, as this call has seen it; null when nothing is there. Never throws. */
  identityOf(real: string): string | null;
};

/**
 * The real machine behind the evaluator. The guarded lists are made once for a run; each host is for one call, relative
 * to its directory, and keeps every answer, so that what was judged is what is executed. The answers never throw: what
 * cannot be looked at counts as not there.
 */
export function createPolicyHosts(machine: Machine, binaries: Binaries): (cwd: string) => CallHost {
  const directories = machine.path.split(delimiter);
  // What steers every later conversation is protected like what runs later, under the name that it may be a link to, too.
  const instructions = join(machine.workspace, instructionsName);
  const guards = createGuards(machine, directories.filter(isAbsolute), instructions);
  const root = realPath(machine.workspace);
  const programs = createPrograms(directories, root, machine);
  return (cwd) => {
    const sight = createSight();
    const view = binaries.view();
    return {
      platform: machine.platform,
      shell: machine.shell,
      workspace: machine.workspace,
      cwd,
      home: machine.home,
      caseInsensitivePaths: machine.caseInsensitivePaths,
      realPath: sight.realPath,
      identityOf: sight.identityOf,
      filesLike: memo(filesLike),
      perProcess: machine.platform === 'linux' ? memo(leadsThroughProcess) : () => false,
      isDirectory: memo(isDirectory),
      hardLinks: memo(hardLinks),
      resolveProgram: memo(programs.find),
      foundRelative: programs.foundRelative,
      binary: view.look,
      hashAsked: view.hashAsked,
      isTracked: memo(createTracked()),
      textOf: memo((path: string) => readText(path) ?? null),
      repository: memo((directory: string) => findRepository(directory, root)),
      guarded: guards.lists,
      ...(machine.commandTables === undefined ? {} : { commandTables: machine.commandTables }),
      guardOf: guards.identify(sight.identityOf),
      root: machine.confined ? null : root,
    };
  };
}

/** What the evaluator needs to read the lines of another toolset; the grammar is loaded only where a rule reads them. */
export async function lineReader({ policy }: LoadedPolicy, tools: string): Promise<Pick<EvaluateOptions, 'readLine'>> {
  if (!readsLines(policy, tools)) return {};
  const parse = await loadParser();
  return { readLine: (line) => readOtherLine(line, parse) };
}

function memo<T extends string | number | boolean | object | null>(
  ask: (text: string, more: string) => T,
): (text: string, more?: string) => T {
  const known = new Map<string, T>();
  return (text, more = '') => {
    const key = `${text}\0${more}`;
    const old = known.get(key);
    if (old !== undefined) return old;
    const fresh = ask(text, more);
    known.set(key, fresh);
    return fresh;
  };
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

function hardLinks(path: string): number {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true ? found.nlink : 0;
  } catch {
    return 0;
  }
}

/** Whether the file system of a directory folds case: one of its names, or its own, is the same in another case. */
export function foldsCase(directory: string): boolean {
  const at = realPath(directory);
  try {
    const inside = nameWithCase(at);
    const name = inside ?? basename(at);
    const parent = inside === null ? dirname(at) : at;
    const [left, right] = [name, otherCase(name)].map((one) => statSync(join(parent, one), { throwIfNoEntry: false }));
    return name !== otherCase(name) && left !== undefined && left.dev === right?.dev && left.ino === right.ino;
  } catch {
    return false;
  }
}

/** The first entry whose name has letters; a directory may be too long to read the whole of it. */
function nameWithCase(directory: string): string | null {
  const entries = opendirSync(directory);
  try {
    for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) {
      if (otherCase(entry.name) !== entry.name) return entry.name;
    }
    return null;
  } finally {
    entries.closeSync();
  }
}

const otherCase = (name: string): string => (name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase());
