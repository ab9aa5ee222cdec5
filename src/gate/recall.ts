import { editedRoot, reservedForPeople } from '../policy/reserved.ts';
import type { Preview } from '../schema/ask.ts';
import { builtInProviders } from '../schema/tool-names.ts';
import { editsKey, type Remembered } from '../store/remembered.ts';
import type { Tool } from '../tools/tool.ts';
import type { Judged } from './find.ts';
import type { GateRun } from './run.ts';

export type RecallDeps = { readonly remembered: Pick<Remembered, 'askOf'> };

/** As much of what a tool says of itself as fits beside the facts. */
const claimLines = 3;
const claimLength = 500;

/** Every other reason is the runtime's own: what it asks about is answered each time, by a person. */
const decidedByRules: ReadonlySet<string> = new Set(['matched_rule', 'default_action']);

/** Why nobody but a person may answer this ask, now and the next time; null when rules alone led to it (03 §7.1, §9). */
export function reservedCall(run: GateRun, { prepared, evaluation }: Judged): string | null {
  if (!decidedByRules.has(evaluation.reason)) return evaluation.detail ?? evaluation.reason;
  const { call, cwd, site } = prepared;
  return reservedForPeople(call, run.host(cwd), site.command === null ? {} : { reading: site.command });
}

/**
 * Lets a call through without an ask that the operator has let through for the session (03 §9): the same call under the
 * same policy. What it touches is looked at anew, since a link may lead elsewhere by now.
 */
export function recalled(deps: RecallDeps, run: GateRun, judged: Judged): Judged {
  const { evaluation } = judged;
  const { sha256 } = evaluation.policy;
  if (evaluation.action !== 'approve' || sha256 === null) return judged;
  const same = deps.remembered.askOf(run.ref, judged.hash, sha256);
  const ask = same ?? editsAsk(deps, run, judged, sha256);
  if (ask === null || reservedCall(run, judged) !== null) return judged;
  const detail = `${same === null ? 'edits here approved' : 'approved'} for this session by ${ask}`;
  return {
    ...judged,
    evaluation: { ...evaluation, action: 'allow', reason: 'remembered', timeout_s: 0, on_timeout: null, detail },
  };
}

/** The ask by which edits of this workspace were let through, where the call is one. */
function editsAsk(deps: RecallDeps, run: GateRun, { prepared }: Judged, sha256: string): string | null {
  const root = editedRoot(prepared.call, run.host(prepared.cwd));
  return root === null ? null : deps.remembered.askOf(run.ref, editsKey(root), sha256);
}

/** What a card shows of a call, with why the answer to it cannot be remembered, or what else may be. */
export function previewOf(run: GateRun, judged: Judged, given: Preview): Preview {
  const says = claimOf(judged.prepared.found.tool);
  const preview = says === '' ? given : { ...given, tool_says: says };
  const reserved = reservedCall(run, judged);
  if (reserved !== null) return { ...preview, reserved };
  const root = editedRoot(judged.prepared.call, run.host(judged.prepared.cwd));
  return root === null ? preview : { ...preview, edits_root: root };
}

/** The beginning of what a tool that is not ours says of itself (09 §8.7.2, 10 §7.2). */
function claimOf({ spec: { tools, description } }: Tool): string {
  if ((builtInProviders as readonly string[]).includes(tools)) return '';
  const lines = description.trim().split('\n').slice(0, claimLines).join('\n');
  const text = lines.slice(0, claimLength);
  return text.length < description.trim().length ? `${text}…` : text;
}
