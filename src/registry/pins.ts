import { createHash } from 'node:crypto';
import { RuntimeError } from '../schema/errors.ts';
import type { Definition, Drift, SourceKind } from '../schema/tool-sources.ts';
import type { Feed } from '../store/feed.ts';
import type { PinRow, ToolPins } from '../store/tool-pins.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import type { RecordChange, TellChange } from './ports.ts';

export type PinsDeps = {
  readonly store: ToolPins;
  readonly feed: Pick<Feed, 'commit'>;
  readonly record: RecordChange;
  readonly tell: TellChange;
  readonly now: () => number;
};

/** A registered hook or tool server. `id` is that of its row. */
export type SourceRef = { readonly kind: SourceKind; readonly id: string; readonly name: string };

/** A tool as its source describes it now. */
export type ListedTool = { readonly tool: string; readonly definition: Definition };

export type PinnedTool = ListedTool & {
  readonly sha256: string;
  /** `ready`: exactly this definition was accepted. */
  readonly state: 'ready' | 'quarantined';
};

/** A definition that differs from what was accepted, or was never accepted. */
export type Drifted = Omit<Drift, 'diff'>;

/** Of the tools of a source: what was listed last, against what was accepted. */
export type Listing = {
  readonly tools: readonly PinnedTool[];
  /** Over the sorted names and pins of `tools` (05 §2.6.1). */
  readonly sha256: string;
  /** This is the first listing, which is accepted as it is (05 §2.6.2). */
  readonly firstUse: boolean;
};

/** What a person agreed to when registering a hook or a tool server, and what has become of it (05 §2.6). */
export function createPins(deps: PinsDeps) {
  const { store, now } = deps;

  const current = (source: SourceRef): PinRow[] => {
    const rows = store.list(source.kind, source.id);
    const last = Math.max(0, ...rows.map(({ seen_at }) => seen_at));
    return last === 0 ? [] : rows.filter(({ seen_at }) => seen_at === last);
  };

  return {
    /**
     * Notes what a source lists now. The first listing is accepted, with an audit row, also one without any tool: who
     * agreed to that has agreed to nothing that comes later. Later ones are held against it: what is new or has changed is
     * quarantined, what is gone is dropped and usable again when it comes back unchanged. Who looks on is told where this
     * is another listing than the last. Durable when it returns.
     * @param by whom the first listing is accepted by: the operator who looked, or `first_use`
     */
    observe(source: SourceRef, listed: readonly ListedTool[], by: string): Listing {
      const at = now();
      const put = (row: PinRow): void => store.put(source.kind, source.id, row);
      return deps.feed.commit('full', () => {
        const before = listingOf(current(source), false);
        const rows = store.list(source.kind, source.id);
        const wanted = new Map(listed.map(({ tool, definition }) => [tool, { definition, sha256: pinOf(definition) }]));
        const firstUse = rows.length === 0 && !store.wasListed(source.kind, source.id);
        if (firstUse) store.noteListed(source.kind, source.id, at);
        // The clock may stand still or go back: this listing must be newer than the last.
        const seen = Math.max(at, 1 + Math.max(0, ...rows.map(({ seen_at }) => seen_at)));
        for (const row of rows) {
          const same = wanted.get(row.tool)?.sha256 === row.sha256;
          if (same) put({ ...row, seen_at: seen });
          else if (row.state === 'quarantined') store.remove(source.kind, source.id, row.tool, row.sha256);
          else if (listed.length === 0) put({ ...row, seen_at: 0 });
          if (same) wanted.delete(row.tool);
        }
        const state = firstUse ? 'accepted' : 'quarantined';
        const accepted = firstUse ? { accepted_at: at, accepted_by: by } : { accepted_at: null, accepted_by: null };
        for (const [tool, { definition, sha256 }] of wanted) {
          // The members keep their order, in which a model reads them; the hash is of the canonical form.
          put({ tool, sha256, definition: JSON.stringify(definition), state, seen_at: seen, ...accepted });
        }
        const listing = listingOf(current(source), firstUse);
        if (firstUse) {
          const entry = { registry: source.kind, name: source.name, by, definition_sha256: listing.sha256 };
          deps.record('first_use', { ...entry, tools: listing.tools.length }, () => {});
        } else if (listing.sha256 !== before.sha256) {
          deps.tell(source.kind, source.name);
        }
        return listing;
      });
    },

    /** What was listed last, from the rows alone. */
    known: (source: SourceRef): Listing => listingOf(current(source), false),

    /** Every accepted definition, also of tools that are not listed now. */
    accepted: (source: SourceRef): readonly ListedTool[] =>
      store.list(source.kind, source.id).flatMap((row) => (row.state === 'accepted' ? [listedOf(row)] : [])),

    /** Quarantined definitions with what they replace, by tool. */
    drift(source: SourceRef): readonly Drifted[] {
      const rows = store.list(source.kind, source.id);
      return current(source).flatMap((row) => {
        if (row.state === 'accepted') return [];
        const old = rows.find((other) => other.tool === row.tool && other.state === 'accepted');
        const before = old === undefined ? null : { ...listedOf(old).definition };
        const { tool, definition } = listedOf(row);
        const change = before === null ? 'new' : 'changed';
        return [{ tool, change, sha256: row.sha256, before, after: { ...definition } }];
      });
    },

    /**
     * Accepts quarantined definitions of exactly the listing that was shown; each is audited.
     * @param tools only these; null = all
     * @throws RuntimeError conflict when the listing is another one now, not_found for a tool that waits for nothing
     */
    accept(source: SourceRef, shown: string, tools: readonly string[] | null, by: string): readonly string[] {
      const at = now();
      return deps.feed.commit('full', () => {
        const listed = current(source);
        if (listingOf(listed, false).sha256 !== shown) {
          throw new RuntimeError('conflict', `the tools of "${source.name}" have changed again: nothing was accepted`);
        }
        const waiting = listed.filter(({ state }) => state === 'quarantined');
        for (const tool of tools ?? []) {
          if (waiting.some((row) => row.tool === tool)) continue;
          throw new RuntimeError('not_found', `"${source.name}" has no tool ${tool} that waits to be accepted`);
        }
        const chosen = waiting.filter(({ tool }) => tools === null || tools.includes(tool));
        for (const row of chosen) {
          for (const old of store.list(source.kind, source.id)) {
            if (old.tool === row.tool && old.sha256 !== row.sha256) {
              store.remove(source.kind, source.id, old.tool, old.sha256);
            }
          }
          store.put(source.kind, source.id, { ...row, state: 'accepted', accepted_at: at, accepted_by: by });
          const entry = { registry: source.kind, name: source.name, tool: row.tool, sha256: row.sha256, by };
          deps.record('definition_accepted', entry, () => {});
        }
        return chosen.map(({ tool }) => tool);
      });
    },

    /** With the source; inside the transaction that removes it. */
    forget: (source: SourceRef): void => store.forget(source.kind, source.id),
  };
}

export type Pins = ReturnType<typeof createPins>;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The pin of one definition (05 §2.6.1). */
const pinOf = (definition: Definition): string => sha256(canonicalJson(definition));

const listedOf = (row: PinRow): ListedTool => ({
  tool: row.tool,
  // JSON of an object, written above.
  definition: JSON.parse(row.definition) as Definition,
});

function listingOf(rows: readonly PinRow[], firstUse: boolean): Listing {
  const tools = rows.map(
    (row): PinnedTool => ({
      ...listedOf(row),
      sha256: row.sha256,
      state: row.state === 'accepted' ? 'ready' : 'quarantined',
    }),
  );
  return { tools, sha256: sha256(canonicalJson(tools.map((one) => [one.tool, one.sha256]))), firstUse };
}
