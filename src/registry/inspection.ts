import type { InstructionsView } from '../schema/instructions.ts';
import type { BinaryState } from '../schema/policy.ts';

/** What other rooms know about the set-up and `doctor` reports (06 §15). Made by the port `inspect`. */
export type Inspection = {
  /** Null when there is no data directory. */
  readonly dataDir: string | null;
  /** Of the workspace. */
  readonly root: string;
  readonly hasRunChain: boolean;
  /** Default and configured chains that do not load: one entry per file, its first defect. */
  readonly invalidChains: readonly { readonly path: string; readonly defect: string }[];
  /** Of the same chains, those that load and of which `chain vet` warns. */
  readonly cautiousChains: readonly { readonly path: string; readonly caution: string }[];
  /** Why no chain of the project loads, whatever it says: the file of trust decisions cannot be used. */
  readonly trustFault: { readonly message: string; readonly mend: string | null } | null;
  readonly untrusted: readonly { readonly kind: 'chain' | 'policy' | 'agent'; readonly path: string }[];
  readonly policy: {
    readonly name: string;
    readonly source: string;
    readonly sha256: string | null;
    readonly path: string | null;
    /** Named for this invocation, not by the settings. */
    readonly given: boolean;
    /** `missing`: the configured name is found nowhere. */
    readonly state: 'ok' | 'invalid' | 'missing';
    readonly defect: string | null;
    /** Warnings of `policy vet`. */
    readonly warnings: number;
    /** The shipped preset that it was copied from has changed since (amendment 23). */
    readonly presetChanged: string | null;
    /** Members of a declared attention block allow agents, but no readable chain is configured. */
    readonly attentionChainMissing: boolean;
    /** Declarations of `trusted_binaries` that do not hold (02 §10). */
    readonly binaries: readonly BinaryState[];
  };
  readonly database: {
    readonly path: string;
    readonly bytes: number | null;
    readonly schema: number | null;
    readonly problem: {
      /** `unusable`: the system does not give the file, or what belongs to it, to this process. */
      readonly code: 'foreign' | 'corrupt' | 'newer' | 'unusable';
      readonly message: string;
      /** The command that helps, where one is known. */
      readonly mend: string | null;
    } | null;
    /** Where the audit log breaks; null when it is whole. */
    readonly auditBreak: string | null;
    /** Sessions with messages that cannot be read, and how many. */
    readonly damagedSessions: readonly { readonly name: string; readonly messages: number }[];
    /** Where it lies or would lie; unlimited where the system does not say. */
    readonly freeBytes: number;
  };
  /** Files readable, and directories writable, by others, each with the command that mends it. */
  readonly openPermissions: readonly { readonly path: string; readonly message: string; readonly mend: string }[];
  /** Files that changes left behind which were cut off (05 §4.6.2). */
  readonly leftOver: readonly string[];
  /** The server was started once, and nobody has set a password; `open`: it is to listen beyond this machine. */
  readonly defaultPassword: 'no' | 'loopback' | 'open';
  readonly unwritable: {
    readonly dataDir: string | null;
    /** With why, and what mends it. */
    readonly home: { readonly path: string; readonly message: string; readonly mend: string } | null;
    /** A database that can be read and not written. */
    readonly database: string | null;
  };
  /** Data directories and policies that were passed over for their permissions (amendment 24). */
  readonly refused: readonly { readonly path: string; readonly reason: string; readonly mount: string | null }[];
  readonly asks: { readonly pending: number; readonly oldest: string | null };
  /** Runs that rest and wait for nobody's answer, and runs with calls that nobody has settled. */
  readonly runs: {
    readonly interrupted: number;
    readonly suspended: number;
    readonly unknownOutcome: readonly string[];
    /** Those that could not go on the last time, and why. */
    readonly stuck: readonly { readonly id: string; readonly attempts: number; readonly last_error: string }[];
  };
  /** The largest `max_tokens` that a default chain asks for. */
  readonly chainMaxTokens: { readonly path: string; readonly tokens: number } | null;
  /** The configured port of the server where another program listens. */
  readonly beamPortTaken: number | null;
  /** Host and port of the proxy of the web tools. */
  readonly webProxy: string | null;
  /** Files with instructions for agents, and whether a run of the project's chains would give them to the model. */
  readonly instructions: readonly InstructionsView[];
  readonly defaultChain: string;
  /** A server is looked at that has no chain to make a chat of: its workspace has no data directory, and none was named. */
  readonly servesNoChats: boolean;
};
