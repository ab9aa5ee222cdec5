import type { Ask } from '../schema/ask.ts';
import type { Evaluation, PolicyCall } from '../schema/policy.ts';
import type { CallRequest } from '../schema/protocol.ts';
import type { ArgumentRecord, Looked, Prepared as ToolPrepared, Tool, ToolSite } from '../tools/tool.ts';
import type { InstructionTexts } from './instructions-watch.ts';
import type { GateRun } from './run.ts';

/** The stages of a tool call on its way through the gate, in their order. Each says what is known by then. */

/** The row of a call that has one before it starts: it waits for a verdict, or is taken up again without a question. */
export type Planned = { readonly seq: number; readonly ask_id: string | null };

/** What was asked for, and by which run. Of a name that leads to no tool this is all that there is. */
export type RequestedCall = {
  readonly run: GateRun;
  readonly request: CallRequest;
  readonly found: Found | null;
  /** Null for a call that is not written down yet. */
  readonly planned: Planned | null;
};

/** A call that ends before anybody decides: unknown, hidden, malformed, or impossible (04 §14.2, steps 1 to 4). */
export type Refused = {
  readonly kind: 'refused';
  readonly error: string;
  readonly message: string;
  readonly extra?: Readonly<Record<string, unknown>>;
};

/** The tool that the name leads to. */
export type Found = { readonly kind: 'found'; readonly tool: Tool; readonly tools: string; readonly name: string };

/** A call of a tool that there is: what the steps of the gate hand on to each other. */
export type GateCall = RequestedCall & {
  readonly found: Found;
  /** What was said to the question of its tool. */
  readonly answer?: string;
};

/** A call with a row of its own. */
export type PlannedCall = GateCall & { readonly planned: Planned };

/** A call about which a question is written down. */
export type AskedCall = GateCall & { readonly planned: Planned & { readonly ask_id: string } };

/** A call that could run: its arguments are checked, and its tool has looked at what it would act on. */
export type Prepared = {
  readonly kind: 'prepared';
  /** The final arguments: one object, made once, that is judged, shown and executed. */
  readonly args: unknown;
  readonly call: PolicyCall;
  /** The arguments as they are written down and shown: injected ones by name only. */
  readonly shown: ArgumentRecord;
  /** Names for which the model had a value of its own, in whose place the operator's is sent. */
  readonly dropped: readonly string[];
  readonly facts: unknown;
  /** Null for a tool that acts on no path. */
  readonly looked: Looked | null;
  /** Absent where it leaves no file behind. */
  readonly leaves?: NonNullable<Extract<ToolPrepared<unknown>, { ok: true }>['leaves']>;
  /** Null where arguments and paths say what the call is about. */
  readonly meant: string | null;
  readonly site: ToolSite;
  readonly cwd: string;
  readonly summary: string;
};

/** What the evaluator made of a call. It is made anew whenever time has passed. */
export type Judged = {
  readonly prepared: Prepared;
  readonly evaluation: Evaluation;
  readonly hash: string;
  /** Where its directory and its path led when it was judged, and what else it was about. */
  readonly places: string;
  /** What its commands would start, or which server or service would answer; null where neither is, or nobody is asked. */
  readonly programs: string | null;
  /** An earlier approval of this call for the session that does not count, because something else would run now. */
  readonly outdated: Ask | null;
};

/** The row of a call that runs, and since when. */
export type Started = {
  readonly seq: number;
  readonly at: number;
  /** The instructions for agents as it found them; null for a call that changes no file. */
  readonly found: InstructionTexts | null;
};
