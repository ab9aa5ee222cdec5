import { lstatSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PolicyHost } from '../schema/policy.ts';
import type { Machine } from './machine.ts';
import { realPath, type Sight } from './real-path.ts';

type Guarded = Pick<
  Machine,
  'database' | 'reinsHome' | 'dataDir' | 'secretFiles' | 'namedFiles' | 'installation' | 'pid'
>;

/**
 * The guarded paths of this machine (11 §6.1), under the names given and under their real ones.
 * @param path directories on PATH
 * @param instructions the file with the project's instructions for agents
 */
export function createGuards(machine: Guarded, path: readonly string[], instructions: string) {
  // Of the places that hold a database (11 §1.1) only one is in use here; another run's are as secret as that.
  const places = [machine.reinsHome, ...(machine.dataDir === null ? [] : [machine.dataDir])];
  const databases = [...new Set([machine.database, ...places.map((place) => join(place, 'local.db'))])];
  const secrets = [
    ...databases.flatMap((database) => ['', '-wal', '-shm', '-journal', '-mark'].map((suffix) => database + suffix)),
    ...['machine.key', 'trust.json', 'beam-token', 'audit-anchors'].map((name) => join(machine.reinsHome, name)),
    ...machine.secretFiles,
    `/proc/${machine.pid}`,
  ];
  const plane = [...places, ...machine.namedFiles, machine.installation];
  const lists: PolicyHost['guarded'] = {
    secrets: underBothNames(secrets),
    secretPrefixes: underBothNames(databases).map((database) => `${database}.backup-`),
    plane: underBothNames(plane),
    path: underBothNames([...path, instructions]),
    instructions: underBothNames([instructions]),
  };
  const identified = (): ReadonlyMap<string, Guard> => {
    const twins = places.flatMap(twinsIn);
    const isBackup = (path: string): boolean => databases.some((database) => path.startsWith(`${database}.backup-`));
    return new Map<string, Guard>([
      ...identities([...plane, ...twins], 'plane'),
      ...identities([join(machine.installation, 'src', 'cli', 'main.js')], 'self'),
      ...identities([...secrets, ...twins.filter(isBackup)], 'secret'),
    ]);
  };
  return {
    lists,
    /**
     * Tells guarded files and directories by device and inode, so that hard links and bind mounts are seen: of the
     * path itself, and of every directory above it. The guarded ones are looked at once for each function made here.
     * @param identityOf of a real path
     */
    identify(identityOf: Sight['identityOf']): PolicyHost['guardOf'] {
      let guarded: ReadonlyMap<string, Guard> | null = null;
      const known = new Map<string, Guard | null>();
      const look = (path: string): Guard | null => {
        // A secret lies in the control plane too: the stronger word is the later one.
        guarded ??= identified();
        const identity = identityOf(path);
        return identity === null ? null : (guarded.get(identity) ?? null);
      };
      return (target) => {
        if (target.length > maxPathLength) return null;
        const passed: string[] = [];
        let guard: Guard | null = null;
        for (let at = target; guard === null; at = dirname(at)) {
          const old = known.get(at);
          guard = old ?? (old === undefined ? look(at) : null);
          passed.push(at);
          if (old !== undefined || dirname(at) === at) break;
        }
        for (const path of passed) known.set(path, guard);
        return guard;
      };
    },
  };
}

/** Longer ones name nothing: of what is given to the system, and of the directory that it lies in, each may have half. */
const maxPathLength = 8192;

const underBothNames = (paths: readonly string[]): readonly string[] => [
  ...new Set(paths.flatMap((path) => [trimmed(path), trimmed(realPath(path))])),
];

/** Without the slash that a directory may be given with. */
const trimmed = (path: string): string => (path.length > 1 ? path.replace(/[\\/]+$/, '') : path);

type Guard = 'secret' | 'plane' | 'self';

const identities = (paths: readonly string[], guard: Guard): readonly (readonly [string, Guard])[] =>
  paths.flatMap((path) => {
    const identity = followed(path);
    return identity === null ? [] : [[identity, guard] as const];
  });

/** Documents with a second name, which need not lie below their place. A link in it may lead to anything of the user's. */
function twinsIn(place: string): readonly string[] {
  try {
    return readdirSync(place, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => join(place, name))
      .filter((path) => (lstatSync(path, { throwIfNoEntry: false })?.nlink ?? 0) > 1);
  } catch {
    return [];
  }
}

function followed(path: string): string | null {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? null : `${found.dev}:${found.ino}`;
  } catch {
    return null;
  }
}
