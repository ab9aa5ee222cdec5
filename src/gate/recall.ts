import type { Asks } from '../asks/asks.ts';
import { commandFlags } from '../policy/command-flags.ts';
import { evaluate, type EvaluateOptions } from '../policy/evaluate.ts';
import { editedRoot, reservedForPeople, secretPaths } from '../policy/reserved.ts';
import type { Ask, CallFlag, Preview } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import { builtInProviders } from '../schema/tool-names.ts';
import type { CommandSegment } from '../schema/policy-views.ts';
import { editsKey, type Remembered } from '../store/remembered.ts';
import type { GateRun } from './run.ts';
import type { Found, GateCall, Judged, Prepared } from './stages.ts';

export type RecallDeps = {
  readonly remembered: Pick<Remembered, 'askOf'>;
  readonly asks: Pick<Asks, 'show'>;
};

/** Every other reason is the runtime's own: what it asks about is answered each time, by a person. */
const decidedByRules: ReadonlySet<string> = new Set(['matched_rule', 'default_action']);

/** Why nobody but a person may answer this ask, now and the next time; null when rules alone led to it (03 §7.1, §9). */
export function reservedCall(run: GateRun, { prepared, evaluation }: Judged): string | null {
  if (!decidedByRules.has(evaluation.reason)) return evaluation.detail ?? evaluation.reason;
  return reservedForPeople(prepared.call, run.host(prepared.cwd), readingOf(prepared));
}

/**
 * Lets a call through without an ask that the operator has let through for the session (03 §9): the same call under the
 * same policy. What it touches and starts is looked at anew: a link may lead elsewhere by now, and a program be another
 * one under its name. Then it is asked about again, as after any approval (03 §3.4).
 */
export function recalled(deps: RecallDeps, run: GateRun, judged: Judged): Judged {
  const { evaluation } = judged;
  const { sha256 } = evaluation.policy;
  if (evaluation.action !== 'approve' || sha256 === null) return judged;
  const same = deps.remembered.askOf(run.ref, judged.hash, sha256);
  const ask = same ?? editsAsk(deps, run, judged, sha256);
  if (ask === null || reservedCall(run, judged) !== null) return judged;
  if (same !== null) {
    const given = askOrNull(deps, same);
    if (given === null || !holdsFor(given, judged)) return { ...judged, outdated: given };
  }
  const detail = `${same === null ? 'edits here approved' : 'approved'} for this session by ${ask}`;
  return {
    ...judged,
    evaluation: { ...evaluation, action: 'allow', reason: 'remembered', timeout_s: 0, on_timeout: null, detail },
  };
}

/** Whether an approval was given to what would run now, as far as the words of the call do not tell. */
const holdsFor = ({ preview }: Pick<Ask, 'preview'>, { places, programs }: Judged): boolean =>
  preview.places === places && (preview.programs ?? null) === programs;

function askOrNull({ asks }: RecallDeps, id: string): Ask | null {
  try {
    return asks.show(id);
  } catch (error) {
    // It has gone with its run: nobody knows any more what was approved.
    if (error instanceof RuntimeError && error.code === 'not_found') return null;
    throw error;
  }
}

/** The command line of a shell call as it was read when it was prepared: it is not read again. */
export const readingOf = ({ site }: Prepared): Pick<EvaluateOptions, 'reading'> =>
  site.command === null ? {} : { reading: site.command };

/** The ask by which edits of this workspace were let through, where the call is one. */
function editsAsk(deps: RecallDeps, run: GateRun, { prepared }: Judged, sha256: string): string | null {
  const root = editedRoot(prepared.call, run.host(prepared.cwd));
  return root === null ? null : deps.remembered.askOf(run.ref, editsKey(root), sha256);
}

/** What a card shows of a call: its commands, why the answer to it cannot be remembered, or what else may be. */
export function previewOf({ run, found }: GateCall, judged: Judged, preview: Preview): Preview {
  const { flags = [], ...commands } = commandsOf(run, judged);
  const known: Preview = {
    ...preview,
    ...commands,
    ...flagsOf([...secretFlags(run, judged), ...flags]),
    ...saysOf(found),
    ...byModel(run),
    rules: run.policy().policy.rules.length,
  };
  const reserved = reservedCall(run, judged);
  if (reserved !== null) return { ...known, reserved };
  const root = editedRoot(judged.prepared.call, run.host(judged.prepared.cwd));
  return root === null ? known : { ...known, edits_root: root };
}

/** Which model an ask comes from (03 §8). */
export const byModel = ({ chosen }: GateRun): Pick<Preview, 'by_model'> =>
  chosen === null ? {} : { by_model: { model: chosen.model, backend: chosen.backend } };

const mostSaid = 400;
const mostSaidLines = 3;

/** The description of a tool that is not the program's own, which a person has not read in its documents. */
function saysOf({ tool, tools }: Found): Pick<Preview, 'tool_says'> {
  const description = tool.spec.description.trim();
  if (builtInProviders.includes(tools) || description === '') return {};
  const said = description.split('\n', mostSaidLines).join('\n').slice(0, mostSaid);
  return { tool_says: said === description ? said : `${said}…` };
}

const flagsOf = (flags: readonly CallFlag[]): Pick<Preview, 'flags'> => (flags.length === 0 ? {} : { flags });

/** A card names a few; an argument may be a list of thousands. */
const mostSecrets = 5;

const secretFlags = (run: GateRun, { prepared }: Judged): readonly CallFlag[] =>
  secretPaths(prepared.call, run.host(prepared.cwd), readingOf(prepared))
    .slice(0, mostSecrets)
    .map((what) => ({ flag: 'secret_path', what: what.slice(0, mostSaid), lines: [] }));

/** A card shows a few; a line of thousands is read on the line itself. */
const mostCommands = 40;

/** In the order of the line; where it has more than are shown, what it says itself stands before what it implies. */
const firstOf = (segments: readonly CommandSegment[]): readonly CommandSegment[] =>
  segments.length <= mostCommands
    ? segments
    : [...segments.filter(({ revealed }) => !revealed), ...segments.filter(({ revealed }) => revealed)].slice(
        0,
        mostCommands,
      );

/** The commands of a shell call. Only a call that is asked about pays for the second reading. */
function commandsOf(run: GateRun, { prepared: { call, cwd, site } }: Judged): Pick<Preview, 'commands' | 'flags'> {
  if (site.command === null) return {};
  const { analysis } = evaluate(run.policy(), call, run.host(cwd), { reading: site.command, trace: true });
  // `policy/segments.ts` has just written it; a call that is no shell call has none.
  const { segments = [], unread = null } = (analysis ?? {}) as {
    readonly segments?: readonly CommandSegment[];
    readonly unread?: string | null;
  };
  const line = typeof call.args['command'] === 'string' ? call.args['command'] : '';
  const flags = commandFlags(segments, unread === null, line);
  return {
    commands: { first: firstOf(segments), total: unread === null ? segments.length : null },
    ...flagsOf(flags),
  };
}
