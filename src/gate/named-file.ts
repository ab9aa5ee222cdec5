import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { Asks } from '../asks/asks.ts';
import type { GateCall, Judged } from './stages.ts';

/** Longer arguments are contents, which may speak of anything. */
const longestName = 4096;

/**
 * Whether a person has let a call through whose question showed the name of a file: in the command, as one of the other
 * arguments, or in what was caught about it.
 */
export function wasAskedAbout(asks: Pick<Asks, 'show'>, call: GateCall, judged: Judged, path: string): boolean {
  if (!wasAnswered(asks, call, judged)) return false;
  const { prepared, evaluation } = judged;
  const names = namesOf(path);
  const shown = [evaluation.detail ?? '', ...textsOf(call.found.tools, prepared.call.args)];
  return shown.some((text) => {
    const folded = text.toLowerCase();
    return names.some((name) => folded.includes(name));
  });
}

/** An agent's word is nobody's who knows the project, and what a session remembers was a person's. */
function wasAnswered(asks: Pick<Asks, 'show'>, { planned }: GateCall, { evaluation }: Judged): boolean {
  if (evaluation.reason === 'remembered') return true;
  if (planned === null || planned.ask_id === null) return false;
  const { verdict } = asks.show(planned.ask_id);
  return verdict !== null && verdict.outcome === 'approve' && verdict.by.startsWith('operator:');
}

/** Its own name, and that of the file that it is a link to. */
function namesOf(path: string): readonly string[] {
  const names = [basename(path)];
  try {
    names.push(basename(realpathSync(path)));
  } catch {
    // It is gone by now.
  }
  return names.map((name) => name.toLowerCase());
}

function textsOf(tools: string, value: unknown): readonly string[] {
  if (typeof value === 'string') {
    const isName = tools === 'local_shell' || (value.length <= longestName && !value.includes('\n'));
    return isName ? [value] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  // Of our own tools one argument says which file it is about; a line to be written may speak of another.
  const own = tools === 'local_fs' && 'path' in value ? [value.path] : Object.values(value);
  return own.flatMap((one) => textsOf(tools, one));
}
