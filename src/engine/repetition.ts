import { canonicalJson } from '../text/canonical-json.ts';

/** The same call with the same result, consecutively (04 §14.8.2). Small enough for every checkpoint. */
export type Repetition = { readonly call: string; readonly result: string; readonly count: number };

export const noRepetition: Repetition = { call: '', result: '', count: 0 };

/** From this time on the result says so. */
const notedFrom = 3;
/** This time is not executed any more. */
const refusedFrom = 5;
/** This time ends the run. */
const fatalFrom = 8;

/** Before a call: whether it may be made. `times` counts this one. */
export type RepetitionCheck = { readonly kind: 'make' | 'refuse' | 'loop'; readonly times: number };

/** @param call what tells calls apart: the tool and its arguments */
export function checkRepetition(seen: Repetition, call: string): RepetitionCheck {
  const times = seen.call === call ? seen.count + 1 : 1;
  if (times >= fatalFrom) return { kind: 'loop', times };
  return { kind: times >= refusedFrom ? 'refuse' : 'make', times };
}

/** After a call that was made. */
export function countResult(seen: Repetition, call: string, result: string): Repetition {
  return seen.call === call && seen.result === result
    ? { call, result, count: seen.count + 1 }
    : { call, result, count: 1 };
}

/** After a call that was refused as repeated: its result stays what it was. */
export const countRefused = (seen: Repetition): Repetition => ({ ...seen, count: seen.count + 1 });

/** The extra line of a result, or null while it is early. */
export const repetitionNote = (seen: Repetition): string | null =>
  seen.count >= notedFrom ? `This exact call has now been made ${seen.count} times with the same result.` : null;

/** The same text for the same tool with the same arguments, however they are written. */
export const callKey = (tool: string, args: string): string => fingerprint(`${tool} ${canonicalText(args)}`);

function canonicalText(args: string): string {
  try {
    return canonicalJson(JSON.parse(args === '' ? '{}' : args));
  } catch {
    // No JSON, or nested too deeply to be read: the text as it is.
    return args;
  }
}

/**
 * A short fingerprint of a text: its length and 53 bits. It guards against a model that goes in circles, not against an
 * attacker, so it needs no cryptography.
 */
export function fingerprint(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return `${text.length}.${(low >>> 0).toString(36)}${(high >>> 0).toString(36)}`;
}
