import { comparable, pathValue } from '../policy/paths.ts';
import type { Looked, SeenFile } from '../tools/tool.ts';
import type { CallHost } from './facts.ts';
import type { Refused } from './stages.ts';

/**
 * Whether the rules were asked about the very file that the tool has looked at and will open (05 §2.2). Tool and rules
 * resolve a path at two moments: a link that leads elsewhere in between would have one file judged and another one opened.
 * @param host the view that the call was judged with, which looks at every name once
 */
export function isWhatWasJudged(looked: Looked | null, host: CallHost): boolean {
  if (looked === null) return true;
  const { given, real, parent, stat } = looked;
  // Of a link that is meant itself the rules follow the target; it lies where its directory does.
  const [text, place] = stat?.isSymbolicLink() === true ? [directoryOf(given), parent.path] : [given, real];
  return (
    pathValue(text, host).real() === comparable(place, host) &&
    host.identityOf(real) === identityText(stat) &&
    host.identityOf(parent.path) === identityText(parent)
  );
}

/** Whether a further file was still the one that was seen when the rules were asked about its path. */
export const isWhatWasSeen = (seen: SeenFile, host: Pick<CallHost, 'identityOf'>): boolean =>
  host.identityOf(seen.real) === identityText(seen);

export const movedMeanwhile: Refused = {
  kind: 'refused',
  error: 'path_changed',
  message: 'The path led elsewhere while the call was judged, so nothing was done. Call again.',
};

/** With its slash: `~/` alone is the home directory. */
const directoryOf = (path: string): string => path.slice(0, path.replace(/\/+$/, '').lastIndexOf('/') + 1) || '.';

const identityText = (found: { readonly dev: bigint; readonly ino: bigint } | null): string | null =>
  found === null ? null : `${found.dev}:${found.ino}`;
