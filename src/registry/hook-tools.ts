import type { Notice } from '../schema/event.ts';
import type { HookRow, HookRows } from '../store/hooks.ts';
import { hookTool } from '../tools/hooks/hook-tool.ts';
import { refusingTool, type SourceTools } from '../tools/source.ts';
import { type HookListing, serviceOf, sourceOf } from './hook-listing.ts';
import { isUrl, specificationOf } from './hook-specification.ts';
import type { Listing, Pins, SourceRef } from './pins.ts';
import { firstUse, quarantined, quarantinedText, sourceNotice, unavailable } from './source-notices.ts';

export type HookToolsDeps = {
  readonly rows: Pick<HookRows, 'find'>;
  readonly pins: Pins;
  readonly listing: HookListing;
  readonly now: () => number;
  /** Config `hook-spec-ttl`, in milliseconds. */
  readonly ttlMs: () => number;
};

/** How long a description serves when its service cannot be asked (05 §9.3.4). */
const staleMs = 7 * 24 * 3600_000;

/** The tools of a hook for one run. What fails is told in notices; nothing rejects. */
export async function openHook(deps: HookToolsDeps, name: string): Promise<SourceTools> {
  const { pins } = deps;
  const row = deps.rows.find(name);
  if (row === undefined) return { name, tools: [], notices: [] };
  const { listing, notices } = await listingForRun(deps, row);
  if (listing === null) {
    const message = `The hook ${name} cannot be used now: its description was not to be had.`;
    const known = pins.accepted(sourceOf(row));
    const tools = known.map(({ tool }) => refusingTool({ tools: name, tool }, 'unavailable', message));
    return { name, tools, notices };
  }
  const service = serviceOf(row);
  const ports = deps.listing.portsOf(row);
  const tools = listing.tools.map(({ tool, definition, state, sha256 }) =>
    state === 'ready'
      ? { ...hookTool(service, definition, ports), origin: `hook ${row.id} ${row.url} ${sha256}` }
      : refusingTool({ tools: name, tool }, 'quarantined', quarantinedText(sourceOf(row), tool)),
  );
  return { name, tools, notices: [...notices, ...quarantined(sourceOf(row), listing)] };
}

type ForRun = { readonly listing: Listing | null; readonly notices: readonly Notice[] };

/** The last listing where it is young enough, else a new look; an old one where there is nothing better (05 §9.3.4). */
async function listingForRun(deps: HookToolsDeps, row: HookRow): Promise<ForRun> {
  const { pins, listing, now } = deps;
  const source = sourceOf(row);
  const age = row.spec_fetched_at === null ? Number.POSITIVE_INFINITY : now() - row.spec_fetched_at;
  const isFresh = isUrl(specificationOf(row)) && age >= 0 && age < deps.ttlMs();
  if (isFresh) return { listing: pins.known(source), notices: [] };
  const looked = listing.isPaused(row)
    ? { failure: { message: row.last_error ?? 'it did not answer' } }
    : await listing.look(row, { whole: false, by: 'first_use' });
  if ('listing' in looked) {
    return { listing: looked.listing, notices: looked.listing.firstUse ? [firstUse(source, looked.listing)] : [] };
  }
  const reason = looked.failure.message;
  if (age < staleMs) return { listing: pins.known(source), notices: [stale(source, age, reason)] };
  return { listing: null, notices: [unavailable(source, reason)] };
}

/** `40 s`, `5 min`, `3 h`. */
function ageText(ms: number): string {
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  return ms < 3600_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3600_000)} h`;
}

const stale = (source: SourceRef, ageMs: number, reason: string): Notice =>
  sourceNotice(
    'warn',
    'hook_spec_stale',
    source,
    `The description of hook ${source.name} is ${ageText(ageMs)} old and could not be fetched: ${reason}`,
  );
