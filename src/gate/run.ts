import type { InTask } from '../schema/event.ts';
import type { LoadedPolicy } from '../schema/policy.ts';
import type { OnAsk } from '../schema/run.ts';
import type { EventRef } from '../store/events.ts';
import type { Record as Recorder } from '../store/feed.ts';
import type { Counters } from '../store/runs.ts';
import type { Catalog } from '../tools/catalog.ts';
import type { ForeseenFile } from '../tools/tool.ts';
import type { CallHost } from './facts.ts';
import type { KnownCalls } from './known.ts';
import type { CallOrder } from './order.ts';

/** Arguments that the operator put in the place of a call's own (03 §3.5). */
export type ChangedArguments = Readonly<Record<string, unknown>>;

/** What the events and rows of a run name it by; `task` moves with the run. */
export type RunRef = Omit<EventRef, 'task'> & {
  readonly run_id: string;
  readonly mission_id: string;
  task: InTask | null;
};

/** What became of the question about a spent bound. */
export type Extended = 'granted' | 'refused' | 'suspended';

/** A run as the gate sees it: what stays the same over its calls, and the few things that move. */
export type GateRun = {
  readonly ref: RunRef;
  /** Lease owner: no call starts and no outcome is recorded for a run that is another's (03 §11.2). */
  readonly owner: string;
  /** Session id, or run id without a session. */
  readonly scope: string;
  readonly root: string;
  readonly confined: boolean;
  readonly home: string;
  /** The governing policy as it was last read. */
  policy(): LoadedPolicy;
  /** Reads the policy again when its file changed (02 §4); before every decision. */
  refresh(): Promise<void>;
  /** A fresh view of the machine for one call, relative to its directory. */
  host(cwd: string): CallHost;
  readonly catalog: Catalog;
  /** The version of the catalog that the thread of the run has heard of. */
  toldTools: number;
  /** What is on record of the calls of a run that was resumed; null for a run that began here. */
  readonly known: KnownCalls | null;
  /**
   * Set for a run that is ended behind its open calls (07 §2.7): none of them begins, those of unknown outcome are
   * settled, and where a model turn would follow this ends the run.
   */
  readonly settle: (() => void) | null;
  readonly onAsk: OnAsk;
  /** What the operator asked for, for the agent that may answer in his place; null when it is no text. */
  readonly goal: string | null;
  /** Tightening flags (06 §3); 0 = none. */
  readonly tighten: { readonly maxTurns: number; readonly maxToolCalls: number; readonly maxTokens: number };
  readonly order: CallOrder;
  /** Aborted by cancel, stop and time-out: running tools are ended, open asks become `cancelled`. */
  readonly signal: AbortSignal;
  /** What children of tools may see, the run marker included (05 §2.8). */
  readonly environment: Readonly<Record<string, string>>;
  /** The active clock stands still while a person is waited for (06 §2.2). */
  readonly clock: { pause(): void; resume(): void; waited(): number; left(): number };
  /** What is used of the bounds; written with every change of it. */
  counters: Counters;
  /** What the last turn used; null where none has begun in this segment. */
  chosen: { readonly model: string; readonly provider: string; readonly backend: string } | null;
  /** False after a stop for shutdown: what ends now is found `started` later, as an unknown outcome (06 §2.5). */
  records(): boolean;
  /** Shows the run as waiting for a person, or running again. */
  waiting(on: boolean): void;
  /**
   * A checkpoint that is to be on the disk before the next call starts. It needs no write of its own: it goes into the
   * transaction of the call.
   */
  ahead: {
    /** Adds it to a transaction. */
    write(record: Recorder): void;
    /** The transaction stands: it is not written again. */
    stands(): void;
    /** Writes it by itself. @throws as `Feed.commit` */
    flush(): void;
  };
  /** Set once a bound with `finish` was hit: one last turn is admitted. */
  finishing: boolean;
  /** The question about a spent bound that is open now. */
  extending: Promise<Extended> | null;
  /** Files as calls that wait for an answer would leave them, while the later calls of their message are asked about. */
  readonly foreseen: Map<string, ForeseenFile>;
  /** By call id. */
  readonly changed: Map<string, ChangedArguments>;
  /** Ids of calls that have been started, or were before the run was resumed: only they may have run. */
  readonly begun: Set<string>;
  /** Set once a question could not be written down: the next one that cannot fails the run (03 §2). */
  askFailed: boolean;
};
