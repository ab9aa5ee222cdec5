import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import type { TrustKind, TrustRow } from '../schema/overlay.ts';
import { ensureUserDirectory } from '../store/user-directory.ts';
import { codeOf } from '../text/thrown.ts';
import { writeAtomic } from './files.ts';
import { lockFile } from './lock-file.ts';
import { realOf } from './paths.ts';
import { jsonErrorPosition } from '../text/json-position.ts';
import { quote } from '../text/quote.ts';
import { lookAt, systemReason } from '../text/system-reason.ts';

/** One decision as the file has it (06 §6.2). `path` is relative to the root, `trustedAt` RFC 3339. */
export type TrustEntry = Omit<TrustRow, 'trusted_at'> & { readonly trustedAt: string };

/** What is trusted: exactly these bytes at exactly this place of exactly this root. */
export type TrustSubject = {
  readonly kind: TrustKind;
  /** Real path of the workspace root. */
  readonly root: string;
  /** Path of the file. */
  readonly path: string;
  readonly sha256: string;
};

export type TrustDeps = {
  /** User-level directory; holds `trust.json`. */
  readonly home: string;
  readonly uid: number | null;
  readonly now: () => number;
};

/** 11 §4.2. */
const maxEntries = 10_000;
const maxBytes = 8 * 1024 * 1024;

/** Trust decisions of the user (06 §6, 11 §4), kept in the user-level directory and never in a project. */
export function createTrust(deps: TrustDeps) {
  const path = join(deps.home, 'trust.json');
  let known: { readonly identity: string; readonly entries: readonly TrustEntry[] } | undefined;

  /** @throws RuntimeError config_invalid when the file may not be believed. */
  const load = (): readonly TrustEntry[] => {
    const read = readTrustFile(path, deps.uid, known?.identity);
    if (read !== 'same') known = read;
    return known?.entries ?? [];
  };

  const change = async (edit: (entries: readonly TrustEntry[]) => readonly TrustEntry[]): Promise<void> => {
    ensureUserDirectory(deps.home);
    const unlock = await lockFile(`${path}.lock`, deps.now);
    try {
      const entries = edit(load());
      const kept = withinLimit(entries);
      writeAtomic(path, `[\n${kept.map((entry) => JSON.stringify(entry)).join(',\n')}\n]\n`, 0o600);
    } finally {
      unlock();
    }
  };

  return {
    list: (): readonly TrustEntry[] => load(),

    /**
     * Whether this content may be used. `accepted` are the hashes of `--trust`: they count for this invocation and are
     * never written down. @throws RuntimeError config_invalid when `trust.json` may not be believed
     */
    isTrusted(subject: TrustSubject, accepted: readonly string[] = []): boolean {
      if (accepted.some((hash) => hash.toLowerCase() === subject.sha256)) return true;
      const inside = insideRoot(subject);
      return load().some((entry) => sameSubject(entry, subject, inside));
    },

    /** The decision about exactly this content. */
    decision(subject: TrustSubject): TrustEntry | undefined {
      const inside = insideRoot(subject);
      return load().find((entry) => sameSubject(entry, subject, inside));
    },

    /** The latest decision about this place, whatever its content was. */
    latest({ kind, root, path }: Omit<TrustSubject, 'sha256'>): TrustEntry | undefined {
      const inside = insideRoot({ root, path });
      return load().findLast((entry) => entry.kind === kind && entry.root === root && entry.path === inside);
    },

    /** Records decisions; one that is there already stays as it was. Waits up to 5 s for another writer. */
    async add(subjects: readonly TrustSubject[], by: TrustEntry['by']): Promise<void> {
      if (subjects.length === 0) return;
      await change((entries) => {
        const trustedAt = new Date(deps.now()).toISOString();
        const added = subjects
          .filter((subject) => !entries.some((entry) => sameSubject(entry, subject, insideRoot(subject))))
          .map((subject) => ({
            kind: subject.kind,
            root: subject.root,
            path: insideRoot(subject),
            sha256: subject.sha256,
            trustedAt,
            by,
          }));
        return [...entries, ...added];
      });
    },

    /** Withdraws all decisions about a file, or about a hash anywhere. @returns them */
    async remove(what: { readonly path: string } | { readonly sha256: string }): Promise<readonly TrustEntry[]> {
      const path = 'path' in what ? realOf(what.path) : null;
      const hash = 'sha256' in what ? what.sha256.toLowerCase() : null;
      const isMeant = (entry: TrustEntry) => entry.sha256 === hash || join(entry.root, entry.path) === path;
      if (!load().some(isMeant)) return [];
      let removed: readonly TrustEntry[] = [];
      await change((entries) => {
        removed = entries.filter(isMeant);
        return entries.filter((entry) => !isMeant(entry));
      });
      return removed;
    },
  };
}

export type Trust = ReturnType<typeof createTrust>;

/** Of too many decisions the oldest that nothing uses go first (11 §4.2), then the oldest: who needs one is asked again. */
function withinLimit(entries: readonly TrustEntry[]): readonly TrustEntry[] {
  const tooMany = entries.length - maxEntries;
  if (tooMany <= 0) return entries;
  const places = new Set<string>();
  const used = new Set<TrustEntry>();
  for (const entry of entries.toReversed()) {
    const place = JSON.stringify([entry.kind, entry.root, entry.path]);
    // A later decision has replaced it, or its file is gone.
    if (!places.has(place) && existsSync(join(entry.root, entry.path))) used.add(entry);
    places.add(place);
  }
  const inOrder = [...entries.filter((entry) => !used.has(entry)), ...entries.filter((entry) => used.has(entry))];
  const dropped = new Set(inOrder.slice(0, tooMany));
  return entries.filter((entry) => !dropped.has(entry));
}

const insideRoot = (subject: { readonly root: string; readonly path: string }): string =>
  relative(subject.root, realOf(subject.path));

const sameSubject = (entry: TrustEntry, subject: TrustSubject, inside: string): boolean =>
  entry.sha256 === subject.sha256 &&
  entry.kind === subject.kind &&
  entry.root === subject.root &&
  entry.path === inside;

type TrustFile = { readonly identity: string; readonly entries: readonly TrustEntry[] };

function readTrustFile(path: string, uid: number | null, known: string | undefined): TrustFile | 'same' {
  const refuse = (what: string, hints: readonly string[] = [`ls -ld ${quote(path)}`]): RuntimeError =>
    new RuntimeError('config_invalid', `The file ${path} is not used: it ${what}.`, { hints });
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { identity: '', entries: [] };
    if (code === 'ELOOP') throw refuse('is a symbolic link');
    throw refuse(`cannot be opened: ${systemReason(error)}`, [lookAt(error, path)]);
  }
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    const identity = [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':');
    if (identity === known) return 'same';
    if (!stats.isFile()) throw refuse('is not a regular file');
    if (uid !== null && Number(stats.uid) !== uid) throw refuse('belongs to another user');
    if (uid !== null && (Number(stats.mode) & 0o077) !== 0) {
      throw refuse('can be read or written by other users', [`chmod 600 ${quote(path)}`]);
    }
    if (stats.size > maxBytes) throw refuse(`is larger than ${maxBytes} bytes`);
    const entries = parseEntries(readFileSync(descriptor, 'utf8'));
    if (typeof entries === 'string') throw refuse(entries, [`mv ${quote(path)} ${quote(`${path}.bak`)}`]);
    return { identity, entries };
  } finally {
    closeSync(descriptor);
  }
}

const kinds: ReadonlySet<unknown> = new Set<TrustKind>(['chain', 'policy', 'agent', 'database']);
const ways: ReadonlySet<unknown> = new Set<TrustEntry['by']>(['init', 'prompt', 'command']);

/** What is wrong with the text when it is no list, or any element is no decision: then nothing in it is believed. */
function parseEntries(text: string): readonly TrustEntry[] | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const { line, column } = jsonErrorPosition(text) ?? { line: 1, column: 1 };
    return `is not JSON at line ${line}, column ${column}`;
  }
  if (!Array.isArray(value)) return 'is not a list of trust decisions';
  for (const [index, entry] of value.entries()) {
    const member = badMember(entry);
    if (member !== null) return `is not a list of trust decisions: $[${index}]${member} is wrong or missing`;
  }
  return value as readonly TrustEntry[];
}

const isText = (value: unknown): boolean => typeof value === 'string';
const members: Readonly<Record<keyof TrustEntry, (value: unknown) => boolean>> = {
  kind: (value) => kinds.has(value),
  root: isText,
  path: isText,
  sha256: (value) => isText(value) && /^[0-9a-f]{64}$/.test(String(value)),
  trustedAt: isText,
  by: (value) => ways.has(value),
};

/** `.sha256` where that is what makes it no decision; empty where it is no object at all; null for a decision. */
function badMember(entry: unknown): string | null {
  if (typeof entry !== 'object' || entry === null) return '';
  const found = Object.entries(members).find(([name, holds]) => !holds(Reflect.get(entry, name)));
  return found === undefined ? null : `.${found[0]}`;
}
