import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemReason } from '../text/system-reason.ts';
import { planMarkdown } from '../view/plan-lines.ts';
import type { Plan } from '../schema/plan.ts';
import type { Settings } from '../store/settings.ts';
import { sha256Of, writeAtomic } from '../workspace/files.ts';
import { lockFile } from '../workspace/lock-file.ts';

export type MirrorDeps = {
  /** The directory of the mirror files. */
  readonly directory: string;
  readonly settings: Settings;
  readonly now: () => number;
  readonly warn: (line: string) => void;
};

const remark = '<!-- Written by reins after every change of the plan. Edits are not read. -->';

const mirrorText = (plan: Plan): string => `${remark}\n\n${planMarkdown(plan)}`;

/** The Markdown file beside each plan (07 §4.9): for people to read, never read back. No failure of it fails anything. */
export function createMirror(deps: MirrorDeps) {
  const pathOf = (name: string): string => join(deps.directory, `${name}.md`);
  const key = (plan: Pick<Plan, 'id'>): string => `plan.mirror.${plan.id}`;

  /** In turn with other processes, so that the last writer has the last state. */
  const guarded = async (name: string, body: () => void): Promise<void> => {
    try {
      // Names are made by us, but a database may come from elsewhere (11 §4.7).
      if (basename(name) !== name) throw new Error('its name is no file name');
      mkdirSync(deps.directory, { recursive: true, mode: 0o700 });
      // A repository may bring along a link to anywhere.
      if (lstatSync(deps.directory).isSymbolicLink()) throw new Error('its directory is a link');
      const release = await lockFile(`${pathOf(name)}.lock`, deps.now);
      try {
        body();
      } finally {
        release();
      }
    } catch (error) {
      deps.warn(`the file ${pathOf(name)} of the plan could not be written: ${systemReason(error)}`);
    }
  };

  /** What somebody wrote into the file is never lost, and never read. */
  const putAside = (name: string, there: string | null, written: string | null): void => {
    if (there === null || JSON.stringify(sha256Of(there)) === written) return;
    const path = pathOf(name);
    const aside = freeName(deps.directory, `${name}.edited`);
    renameSync(path, join(deps.directory, aside));
    deps.warn(`${path} was edited; edits are not read, and it is now ${aside}`);
  };

  return {
    /** Writes the file anew. @param read the plan as it stands when the turn has come; null when it is gone */
    async write(name: string, read: () => Plan | null): Promise<void> {
      await guarded(name, () => {
        const plan = read();
        if (plan === null) return;
        const path = pathOf(name);
        const text = mirrorText(plan);
        const there = contentOf(path);
        if (there === text) return;
        putAside(name, there, deps.settings.get(key(plan)));
        // Noted first: what a crash leaves between the two is then taken for edited at worst.
        deps.settings.set(key(plan), JSON.stringify(sha256Of(text)), deps.now());
        writeAtomic(path, text, 0o644);
      });
    },

    /** What was last written of a plan, as `remove` wants it: it is forgotten with the plan. */
    written: (plan: Pick<Plan, 'id'>): string | null => deps.settings.get(key(plan)),

    /** Removes the file with its plan; one that was edited is kept aside. */
    async remove(plan: Pick<Plan, 'id' | 'name'>, written: string | null): Promise<void> {
      const { name } = plan;
      await guarded(name, () => {
        // Another process may have had its turn first, with the plan that it read before the end.
        const late = deps.settings.get(key(plan));
        putAside(name, contentOf(pathOf(name)), late ?? written);
        rmSync(pathOf(name), { force: true });
        if (late !== null) deps.settings.delete(key(plan));
      });
    },
  };
}

export type Mirror = ReturnType<typeof createMirror>;

/** What somebody wrote into the file before is not written over. */
function freeName(directory: string, base: string): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? `${base}.md` : `${base}-${number}.md`;
    if (!existsSync(join(directory, name))) return name;
  }
}

function contentOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
