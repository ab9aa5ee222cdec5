import { ownerIsDead } from './owner.ts';
import type { Settings } from './settings.ts';

const prefix = 'beam.serving.';

type Entry = { readonly owner: string; readonly port: number };

/**
 * Where servers of this database listen, as they noted it themselves: an entry for each process, which counts while the
 * process lives. For other faces to say, never to decide by.
 */
export function createServing(rows: Settings, owner: string, now: () => number) {
  const entries = (): readonly (Entry & { readonly key: string })[] =>
    // Only `note` writes there.
    rows.list(prefix).map(({ key, value }) => ({ key, ...(JSON.parse(value) as Entry) }));
  return {
    /** Notes that this process listens there, and drops what dead ones have left. @returns takes it back */
    note(port: number): () => void {
      const key = `${prefix}${process.pid}`;
      for (const left of entries()) if (!lives(left.owner)) rows.delete(left.key);
      rows.set(key, JSON.stringify({ owner, port } satisfies Entry), now());
      return () => void rows.delete(key);
    },
    ports: (): readonly number[] =>
      entries()
        .filter((entry) => lives(entry.owner))
        .map(({ port }) => port),
  };
}

/** Where the system does not tell when a process began, one with its number has to do. */
function lives(owner: string): boolean {
  if (ownerIsDead(owner)) return false;
  try {
    return process.kill(Number(owner.split(' ')[2]), 0);
  } catch {
    return false;
  }
}
