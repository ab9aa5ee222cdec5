import { RuntimeError } from '../schema/errors.ts';
import type { HookRow, HookRows } from '../store/hooks.ts';
import { parseTarget } from '../tools/egress.ts';
import type { ToolFailure } from '../tools/failure.ts';
import type { ReadYaml } from '../tools/openapi/read-document.ts';
import type { HookPorts, HookService } from '../tools/hooks/hook-service.ts';
import { readTexts } from './backend-fields.ts';
import { namesPrivate, type NetworkDeps, originEgress } from './hook-egress.ts';
import { isUrl, lookAtSpecification, specificationOf } from './hook-specification.ts';
import type { ListedTool, Listing, Pins, SourceRef } from './pins.ts';
import type { Secrets } from './secrets.ts';

export type HookListingDeps = {
  readonly rows: HookRows;
  readonly pins: Pins;
  readonly secrets: Secrets;
  readonly network: NetworkDeps;
  readonly now: () => number;
  readonly readYaml: ReadYaml;
  /** `reins/<version>`. */
  readonly userAgent: string;
};

type Looked = { readonly listing: Listing } | { readonly failure: ToolFailure };

type LookOptions = {
  /** Also when the service says that nothing has changed. */
  readonly whole: boolean;
  /** Who is named in the pins as having accepted a first listing. */
  readonly by: string;
  readonly timeoutMs?: number;
};

/** A service that failed is not asked again by every run. */
const pauseMs = 60_000;

/** Looks at the descriptions of registered services and holds them against what was accepted. */
export function createHookListing(deps: HookListingDeps) {
  const { rows, pins, secrets, now } = deps;
  /** When a service failed last, in this process. */
  const failedAt = new Map<string, number>();

  const portsOf = (row: HookRow): { readonly own: HookPorts; readonly elsewhere: Pick<HookPorts, 'egress'> } => {
    const mend = `the operator may use reins hook update ${row.name} --allow-private`;
    const egressOf = (url: string, isPrivate: boolean | null) => {
      const target = parseTarget(url);
      // Only URLs that parse are ever stored.
      if (typeof target === 'string') throw new RuntimeError('internal', `the URL of hook ${row.name} ${target}`);
      return originEgress(deps.network, target, isPrivate ?? namesPrivate(deps.network, target), mend);
    };
    const own = {
      egress: egressOf(row.url, row.allow_private === 1),
      expand: secrets.expand,
      userAgent: deps.userAgent,
    };
    const place = specificationOf(row);
    return { own, elsewhere: { egress: isUrl(place) ? egressOf(place, null) : own.egress } };
  };

  return {
    portsOf: (row: HookRow): HookPorts => portsOf(row).own,

    /** Fetches the description, or reads its file, and notes what it lists. Never rejects. */
    async look(row: HookRow, { whole, by, timeoutMs }: LookOptions): Promise<Looked> {
      const ports = { ...portsOf(row), readYaml: deps.readYaml, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
      const { signal } = new AbortController();
      const looked = await lookAtSpecification(row, serviceOf(row), ports, whole, signal);
      if (looked.kind === 'failed') {
        failedAt.set(row.id, now());
        const failure = { ...looked.failure, message: secrets.mask(looked.failure.message) };
        rows.putError(row.id, failure.message.slice(0, 500));
        return { failure };
      }
      failedAt.delete(row.id);
      const source = sourceOf(row);
      const known = pins.known(source);
      if (looked.kind === 'unchanged' || (looked.sha256 === row.spec_sha256 && known.tools.length > 0)) {
        rows.confirmSpecification(row.id, looked.etag, now());
        return { listing: known };
      }
      const listed = looked.operations.definitions.map(
        (definition): ListedTool => ({ tool: definition.name, definition: { ...definition } }),
      );
      // The pins first: a description that is stored has been looked at.
      const listing = pins.observe(source, listed, by);
      rows.putSpecification(row.id, { text: looked.text, sha256: looked.sha256, etag: looked.etag, at: now() });
      return { listing };
    },

    /** Whether it failed so lately that a run does without asking. */
    isPaused(row: HookRow): boolean {
      const before = failedAt.get(row.id);
      return before !== undefined && now() - before < pauseMs;
    },

    /** The operator has changed something: the next run asks. */
    forget: (row: HookRow): void => {
      failedAt.delete(row.id);
    },
  };
}

export type HookListing = ReturnType<typeof createHookListing>;

export const sourceOf = ({ id, name }: HookRow): SourceRef => ({ kind: 'hook', id, name });

export const serviceOf = (row: HookRow): HookService => ({
  name: row.name,
  url: row.url,
  timeoutMs: row.timeout_ms,
  headers: readTexts(row.headers),
  inject: readTexts(row.inject),
});
