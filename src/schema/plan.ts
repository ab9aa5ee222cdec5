import { array, boolean, enums, type Infer, literal, nullable, number, object, string, type } from 'superstruct';
import { askKinds } from './ask.ts';
import { Driver, type RunStarted, runOptions } from './run.ts';

/** 07 §3.2. */
export const planStatuses = ['active', 'completed', 'archived'] as const;
export type PlanStatus = (typeof planStatuses)[number];

/** 07 §3.3. */
const stepStatuses = ['pending', 'running', 'waiting', 'completed', 'failed', 'skipped'] as const;
export type StepStatus = (typeof stepStatuses)[number];

/** 07 §3.4. */
const failureClasses = ['blocked', 'capacity', 'transient', 'denied', 'bound', 'logic'] as const;
export type FailureClass = (typeof failureClasses)[number];

/** Limits of 07 §4.4, §5 and 11 §11, in steps and bytes. */
export const mostNewSteps = 100;
export const mostSteps = 200;
export const maxStepBytes = 12_000;
export const maxGoalBytes = 64 * 1024;
export const maxResultBytes = 64 * 1024;

/** What the summariser hands from one step to the next (07 §4.5, 05 §8). */
export const StepSummary = type({
  outcome: enums(['success', 'partial', 'blocked']),
  summary: string(),
  artifacts: array(type({ kind: string(), ref: string(), note: string() })),
  handover_for_next: string(),
  caveats: array(string()),
});
export type StepSummary = Infer<typeof StepSummary>;

/** What the explorer found (07 §4.8). */
export const RepoContext = type({
  schema_version: literal(1),
  repo_root: string(),
  languages: array(string()),
  entry_points: array(string()),
  build_commands: array(string()),
  test_commands: array(string()),
  conventions: array(string()),
  key_files: array(type({ path: string(), role: string() })),
  caveats: array(string()),
  generated_at: string(),
});
export type RepoContext = Infer<typeof RepoContext>;

/** A step as every surface reads it (07 §3.1). Times are RFC 3339. */
export const PlanStep = type({
  id: string(),
  ordinal: number(),
  description: string(),
  status: enums(stepStatuses),
  /** Claimed by a process that is gone. */
  interrupted: boolean(),
  run_id: nullable(string()),
  attempts: number(),
  result_text: nullable(string()),
  summary: nullable(StepSummary),
  summary_error: nullable(string()),
  failure_class: nullable(enums(failureClasses)),
  failure_text: nullable(string()),
  last_failure_summary: nullable(string()),
  started_at: nullable(string()),
  finished_at: nullable(string()),
  /** The open question of its run. */
  ask_id: nullable(string()),
  ask_kind: nullable(enums(askKinds)),
  note: nullable(string()),
  /** The process that works on it; null = none does. */
  run_by: nullable(Driver),
});
export type PlanStep = Infer<typeof PlanStep>;

/** A plan as lists show it (07 §3.1). `done` counts completed and skipped steps. */
const head = {
  id: string(),
  name: string(),
  active: boolean(),
  goal: string(),
  status: enums(planStatuses),
  done: number(),
  total: number(),
  workspace: string(),
  created_at: string(),
  updated_at: string(),
  completed_at: nullable(string()),
};
export const PlanHead = type(head);
export type PlanHead = Infer<typeof PlanHead>;

export const Plan = type({ ...head, steps: array(PlanStep) });
export type Plan = Infer<typeof Plan>;

/** Options of every run that a plan starts. */
export const PlanRunOptions = object(runOptions);
export type PlanRunOptions = Infer<typeof PlanRunOptions>;

export const NewPlan = object({
  /** Empty only where a step file brings its own. */
  goal: string(),
  /** Text of a step file, JSON or Markdown, in place of a planner. */
  from: nullable(string()),
  explore: boolean(),
  planner_model: nullable(string()),
  /** What the executor will be allowed: the planner is told its tools. */
  shell: boolean(),
  run: PlanRunOptions,
});
export type NewPlan = Infer<typeof NewPlan>;

export const NextStep = object({
  /** Name of the plan; null = the active one. */
  plan: nullable(string()),
  shell: boolean(),
  run: PlanRunOptions,
});
export type NextStep = Infer<typeof NextStep>;

/** A step whose run has been started or goes on. */
export type StepStarted = {
  readonly kind: 'step';
  readonly run: RunStarted;
  readonly plan: string;
  readonly ordinal: number;
  readonly total: number;
  readonly description: string;
  /** The run of a claim that nobody held any more goes on. */
  readonly resumed: boolean;
};

/** What `plan next` came to before any run: a step, or nothing that is open. */
export type NextStarted = StepStarted | { readonly kind: 'done'; readonly plan: string };

/** How a step ended (07 §4.11). */
export type StepOutcome = {
  readonly plan: PlanHead;
  readonly step: PlanStep;
  readonly exit_code: number;
  readonly stopped_by: 'done' | 'step' | 'failed' | 'suspended' | 'bound' | 'timeout' | 'signal';
  /** The command that answers what its run waits for; null when it waits for nothing. */
  readonly respond: string | null;
  /** The step failed for lack of room and has not been split before. */
  readonly can_split: boolean;
};

/** A run of a planner or explorer is followed by another one, or has come to its end. */
export type PlanningStep =
  | {
      readonly kind: 'run';
      readonly phase: 'explore' | 'plan' | 'repair';
      readonly run: RunStarted;
      readonly warning: string | null;
    }
  | { readonly kind: 'plan'; readonly plan: Plan; readonly added: number; readonly question: string | null }
  | { readonly kind: 'context'; readonly plan: string; readonly context: RepoContext };
