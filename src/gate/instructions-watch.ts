import type { InstructionFile, InstructionFiles, OpenCall, WithheldText } from '../store/instruction-files.ts';
import { ownerIsDead } from '../store/owner.ts';
import { createTextLook } from './instructions-text.ts';

export type InstructionsWatchDeps = {
  readonly instructionFiles: InstructionFiles;
  /** Paths of the files that models are given as instructions. */
  readonly paths: readonly string[];
  /** The one of them that a call may change at all; what is ours is behind a wall, whatever was answered (11 §6.1). */
  readonly changeable: string;
  /** Whether a person has trusted exactly this text of the file. Never throws. */
  readonly isTrusted: (path: string, sha256: string) => boolean;
  /** This process. */
  readonly owner: string;
  readonly now: () => number;
};

/** The texts of the files, by path; null = there is none. */
export type InstructionTexts = Readonly<Record<string, string | null>>;

/** What a call is, for the record of what it changed. */
type Cause = {
  readonly by: string;
  /** Whether a person answered a question about the call in which this file was named. */
  readonly named: (path: string) => boolean;
};

/** Texts that are remembered of a file. */
const mostKnown = 32;
const mostWithheld = 64;

const untouched: InstructionFile = { known: [], withheld: [], last: null };

/**
 * Tells which text of a file with instructions came there by a call that nobody was asked about by the name of the file:
 * it would speak to every later run as the project, so it is withheld until a person trusts it. A text that is there
 * between calls is a person's, unless it stands where a withheld one stood.
 */
export function createInstructionsWatch(deps: InstructionsWatchDeps) {
  const { instructionFiles: rows, now } = deps;
  const look = createTextLook();
  /** Calls of this process that run. */
  const running = new Set<string>();

  const isTaken = (file: InstructionFile, path: string, sha256: string): boolean =>
    file.known.includes(sha256) || deps.isTrusted(path, sha256);

  /** Why a text is withheld; null when it is given. */
  const refusal = (path: string, sha256: string, calls: readonly OpenCall[]): WithheldText | null => {
    const file = rows.file(path) ?? untouched;
    if (isTaken(file, path, sha256)) return null;
    const before = file.withheld.find((text) => text.sha256 === sha256);
    if (before !== undefined) return before;
    const unknown = { sha256, by: null, at: now() };
    // It came while a call was running, or one that broke off.
    if (calls.some(({ found }) => (found[path] ?? null) !== sha256 && path in found)) return unknown;
    const { last } = file;
    const base =
      last === null || isTaken(file, path, last) ? undefined : file.withheld.find((one) => one.sha256 === last);
    return base === undefined ? null : { ...base, sha256 };
  };

  const settle = (path: string, sha256: string | null, withheld: WithheldText | null): void => {
    const file = rows.file(path) ?? untouched;
    const isKnown = sha256 === null || withheld !== null || file.known.includes(sha256);
    const isNoted = withheld === null || file.withheld.some((one) => one.sha256 === withheld.sha256);
    if (isKnown && isNoted && file.last === sha256) return;
    const settled = {
      known: isKnown ? file.known : [...file.known, sha256].slice(-mostKnown),
      withheld: isNoted ? file.withheld : [...file.withheld, withheld].slice(-mostWithheld),
      last: sha256,
    };
    rows.putFile(path, settled, now());
  };

  const isOver = ({ key, owner }: OpenCall): boolean => (owner === deps.owner ? !running.has(key) : ownerIsDead(owner));

  const looked = (): InstructionTexts => Object.fromEntries(deps.paths.map((path) => [path, look(path)]));

  /** What is found between calls, with which those that broke off are settled. */
  const note = (found: InstructionTexts): void => {
    const calls = rows.openCalls();
    for (const [path, sha256] of Object.entries(found)) {
      settle(path, sha256, sha256 === null ? null : refusal(path, sha256, calls));
    }
    for (const call of calls) if (isOver(call)) rows.closeCall(call.key);
  };

  return {
    look: looked,

    /** Notes what stands there now; in the caller's transaction. */
    note: (): void => note(looked()),

    /** Notes what a call finds, before anything leaves the machine; in the transaction of its start. */
    begin(key: string, found: InstructionTexts): void {
      note(found);
      rows.openCall({ key, owner: deps.owner, found }, now());
      running.add(key);
    },

    /**
     * Holds what a call leaves against what it found; in the transaction of its outcome.
     * @returns the files whose new text is withheld
     */
    end(key: string, found: InstructionTexts, left: InstructionTexts, { by, named }: Cause): readonly string[] {
      rows.closeCall(key);
      return Object.entries(left)
        .filter(([path, sha256]) => {
          const before = found[path] ?? null;
          if (sha256 === before) return false;
          const file = rows.file(path) ?? untouched;
          const isWithheld =
            sha256 !== null &&
            !isTaken(file, path, sha256) &&
            !(path === deps.changeable && named(path) && (before === null || isTaken(file, path, before)));
          settle(path, sha256, isWithheld ? { sha256, by, at: now() } : null);
          return isWithheld;
        })
        .map(([path]) => path);
    },

    /** The call is over, whether its outcome could be written down or not. */
    release: (key: string): void => void running.delete(key),

    /** Why the text of a file is given to no model; null when it is. Writes nothing. */
    withheld: (path: string, sha256: string): WithheldText | null => refusal(path, sha256, rows.openCalls()),
  };
}

export type InstructionsWatch = ReturnType<typeof createInstructionsWatch>;
