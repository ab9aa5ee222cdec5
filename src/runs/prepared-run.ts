import type { CommandTables } from '../schema/command-tables.ts';
import type { Notice } from '../schema/event.ts';
import type { Instructions } from '../schema/instructions.ts';
import type { ToolSpec } from '../schema/message.ts';
import type { LoadedPolicy } from '../schema/policy.ts';
import type { RouteName } from '../schema/protocol.ts';
import type { RunKind, StartRun } from '../schema/run.ts';
import type { Catalog } from '../tools/catalog.ts';
import type { RunSources } from '../tools/source.ts';
import type { RunnableChain } from '../workspace/chains.ts';
import type { LoadedImage } from './images.ts';
import type { GoverningPolicy, RunDefaults, RunSettings } from './ports.ts';

export type RunPlan = {
  readonly id: string;
  readonly name: string;
  readonly stepId: string | null;
  readonly ordinal: number | null;
};

/** Where a run belongs; fixed before anything is written about it. */
export type RunIds = {
  readonly runId: string;
  readonly session: { readonly id: string; readonly name: string } | null;
  /** The plan that it works for; `ordinal` is that of its step, null for a run about the whole plan. */
  readonly plan: RunPlan | null;
  readonly missionId: string;
};

/** Everything that must hold before a row is written; each failure is one sentence and its exit code (06 §10). */
export type PreparedRun = {
  readonly kind: RunKind;
  readonly input: StartRun;
  readonly chain: RunnableChain;
  readonly policy: GoverningPolicy;
  /** The policy as it was when the run began. */
  readonly loaded: LoadedPolicy;
  readonly settings: RunSettings;
  readonly defaults: RunDefaults;
  /** What would serve the first turn: tasks may name another model than the default. Null without a model task. */
  readonly first: RouteName | null;
  readonly root: string;
  readonly confined: boolean;
  readonly catalog: Catalog;
  readonly specs: readonly ToolSpec[];
  readonly sources: RunSources;
  readonly timeoutMs: number;
  readonly images: readonly LoadedImage[];
  /** What the model gets of files with instructions for agents, and what it does not get. */
  readonly instructions: readonly Instructions[];
  /** The operator's own option tables. */
  readonly tables: CommandTables | undefined;
  /** What is said of it before it begins. */
  readonly notices: readonly Notice[];
};
