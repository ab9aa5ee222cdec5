/** Documents of the overlay as every surface reads them. */
import type { Finding } from './chain.ts';
import type { instructionsName } from './instructions.ts';

/** One chain of the overlay (06 §26). */
export type ChainRow = {
  readonly name: string;
  readonly id: string | null;
  readonly source: 'project' | 'user' | 'builtin';
  readonly path: string | null;
  readonly trust: 'trusted' | 'untrusted' | 'builtin' | 'user';
  readonly sha256: string;
};

/** A chain for people: `sha256` is of what is stored, `text` is canonical. */
export type ShownChain = { readonly id: string; readonly sha256: string; readonly text: string };

export type ChainVetFile = {
  readonly path: string;
  readonly worst: 'ok' | 'info' | 'warning' | 'error';
  readonly findings: readonly Finding[];
};

export type TrustKind = 'chain' | 'policy' | 'agent' | 'database';

/** The version that was trusted last at a place whose content is another one now. */
export type FormerTrust = {
  readonly sha256: string;
  readonly trusted_at: string;
  /** Unified, from that version to the present one; null when its text is not kept or is too large to compare. */
  readonly diff: string | null;
};

/** A project document that waits for trust, with what a person has to see of it (06 §6.5). */
export type UntrustedContent = {
  readonly kind: TrustKind;
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly text: string;
  readonly former: FormerTrust | null;
  /** A file of the project that is given to models once anything of the project is trusted. */
  readonly brings?: typeof instructionsName;
  /** Instructions that a call put there, and no question named: nothing but a decision about them lets them through. */
  readonly changed?: true;
};

/** What begins to count with a database that is accepted. */
export type Brought = {
  readonly kind: 'backend' | 'hook' | 'MCP server' | 'setting';
  readonly name: string;
  /** Where it leads, what it starts, or what it is set to. */
  readonly value: string;
  /** Names of the operator's own variables whose values go there. */
  readonly gets: readonly string[];
};

/** A database that another installation made, with what an operator has to know of it (11 §4.7). */
export type ForeignDatabase = {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Rows by table. */
  readonly counts: Readonly<Record<string, number>>;
  readonly brings: readonly Brought[];
  /** How many more of these there are. */
  readonly more: number;
};

/** One document of the project as `trust show` has it. */
export type TrustView = UntrustedContent & {
  /** Set when exactly this content is trusted. */
  readonly trusted: { readonly at: string; readonly by: string } | null;
};

/** One decision (06 §6.2). */
export type TrustRow = {
  readonly kind: TrustKind;
  /** Real path of the workspace root. */
  readonly root: string;
  /** Inside the root. */
  readonly path: string;
  readonly sha256: string;
  readonly trusted_at: string;
  readonly by: 'init' | 'prompt' | 'command';
};

/** The document that `policy trust` changes or lists. */
export type TrustingPolicy = {
  readonly name: string;
  readonly source: 'project' | 'user' | 'builtin' | 'file';
  readonly path: string | null;
};

/** One declared program as `policy trust` left it (02 §14.7). */
export type ProgramOutcome = {
  /** As given; the path when the whole list was read again. */
  readonly name: string;
  readonly path: string;
  readonly state: 'declared' | 're-declared' | 'unchanged' | 'removed';
  readonly sha256: string;
  /** The digest that stood there before, of `re-declared`. */
  readonly previous: string | null;
};

export type ProgramChange = {
  readonly policy: TrustingPolicy;
  readonly programs: readonly ProgramOutcome[];
  readonly dirs_added: readonly string[];
  readonly failed: readonly { readonly name: string; readonly code: string; readonly message: string }[];
  /** Whether digests were declared before and after: the first one makes every other program ask. */
  readonly pins: { readonly before: boolean; readonly after: boolean };
};

export type DeclaredPrograms = {
  readonly policy: TrustingPolicy;
  readonly dirs: readonly string[];
  readonly programs: readonly {
    readonly path: string;
    readonly sha256: string;
    /** `ok`, or the codes of 02 §10 that say what does not hold. */
    readonly state: string;
  }[];
};
