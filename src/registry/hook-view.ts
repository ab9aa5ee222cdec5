import { stamp } from '../text/stamp.ts';
import type { Definition, HookView, SourceTool } from '../schema/tool-sources.ts';
import type { HookRow, HookRows } from '../store/hooks.ts';
import { offeredDefinition } from '../tools/definition.ts';
import { inputSchemaOf, membersOf } from '../tools/openapi/members.ts';
import type { ReadYaml } from '../tools/openapi/read-document.ts';
import type { HookDefinition } from '../tools/openapi/operations.ts';
import { readTexts } from './backend-fields.ts';
import { type DiffPort, driftView } from './drift-view.ts';
import { serviceOf, sourceOf } from './hook-listing.ts';
import { operationsOfText, specificationOf } from './hook-specification.ts';
import type { Listing, Pins } from './pins.ts';
import { estimateTokens } from '../text/tokens.ts';

/**
 * A hook as it is shown (09 §6.10): of headers and injects the names, never the values. Contacts nothing.
 * @param whole with the operations that are no tools, which takes reading the stored description
 */
export async function hookView(
  deps: {
    readonly rows: Pick<HookRows, 'specificationText'>;
    readonly pins: Pins;
    readonly diff: DiffPort;
    readonly readYaml: ReadYaml;
  },
  row: HookRow,
  whole: boolean,
): Promise<HookView> {
  const source = sourceOf(row);
  const listing = deps.pins.known(source);
  const offered = offeredTools(row, listing);
  const drift = await driftView(deps.pins.drift(source), deps.diff);
  const text = whole ? deps.rows.specificationText(row.id) : null;
  const read =
    text === null
      ? { skipped: [], serverPaths: [] }
      : await operationsOfText(serviceOf(row), specificationOf(row), text, deps.readYaml);
  return {
    name: row.name,
    url: row.url,
    spec: row.spec,
    headers: Object.keys(readTexts(row.headers)),
    inject: Object.keys(readTexts(row.inject)),
    timeout_ms: row.timeout_ms,
    allow_private: row.allow_private === 1,
    created_at: stamp(row.created_at),
    updated_at: stamp(row.updated_at),
    state: drift.length > 0 ? 'quarantined' : stateOf(row),
    tools: offered.map(({ schema: _schema, ...tool }) => tool),
    definition_sha256: row.spec_fetched_at === null ? null : listing.sha256,
    drift,
    skipped: [...read.skipped],
    notes: [...serverNotes(row.url, read.serverPaths), ...sizeNotes(offered)],
    spec_fetched_at: row.spec_fetched_at === null ? null : stamp(row.spec_fetched_at),
    last_error: row.last_error,
  };
}

function stateOf({ spec_fetched_at, last_error }: HookRow): HookView['state'] {
  if (spec_fetched_at !== null) return 'ready';
  return last_error === null ? 'idle' : 'unavailable';
}

/** The tools of a listing with what a model gets of each. */
export function offeredTools(row: HookRow, listing: Listing): (SourceTool & { readonly schema: Definition })[] {
  const hidden = new Set(Object.keys(readTexts(row.inject)));
  return listing.tools.map(({ tool, definition, sha256, state }) => {
    // JSON of what `operationsOf` has made.
    const operation = definition as unknown as HookDefinition;
    const schema = inputSchemaOf(membersOf(operation), hidden);
    const offered = offeredDefinition(operation.description, schema);
    return {
      tool,
      // What is longer is cut for models, too, and flagged (09 §6.10).
      description: operation.description.slice(0, 4096),
      sha256,
      state: state === 'ready' && !offered.ok ? 'unavailable' : state,
      flags: offered.ok ? [...offered.flags] : [offered.reason],
      schema: offered.ok ? offered.schema : schema,
    };
  });
}

/** `servers` of a description is ignored; a path of its own there is a likely mistake (05 §9.3.5). */
function serverNotes(url: string, serverPaths: readonly string[]): string[] {
  const own = new URL(url).pathname.replace(/\/+$/, '');
  const other = serverPaths.find((path) => path !== own);
  if (other === undefined || serverPaths.includes(own)) return [];
  return [`the description says that its paths lie below "${other || '/'}"; calls go to ${url}`];
}

/** A model reads every tool with every request; small contexts are full at once. */
const manyTokens = 20_000;

function sizeNotes(tools: readonly (SourceTool & { readonly schema: Definition })[]): string[] {
  const tokens = estimateTokens(tools.map(({ description, schema }) => description + JSON.stringify(schema)).join(''));
  if (tokens < manyTokens) return [];
  const about = Math.round(tokens / 1000) * 1000;
  return [
    `its ${tools.length} tools take about ${about} tokens of every request that offers all of them; name fewer in the "tools" of a chain, or give a smaller document with --spec`,
  ];
}
