import type { IncomingMessage } from 'node:http';
import type { RuntimeClient } from '../client/operations.ts';
import type { RouteClient } from '../client/routes.ts';
import type { RepeatRecords } from '../schema/repeats.ts';
import { describing } from './describe.ts';
import { streamRoutes, type StreamLimits } from './event-stream.ts';
import { mountOperations } from './mount.ts';
import type { Route } from './route.ts';

export type ApiRouteDeps = {
  readonly client: RuntimeClient;
  readonly operations: RouteClient;
  readonly now: () => number;
  readonly version: string;
  readonly reinsHome: string;
  readonly repeats: RepeatRecords;
  /** Routes that are not of the table: the description names them, too. */
  readonly others: readonly Route[];
  readonly streams?: StreamLimits | undefined;
  /** Of the session, for the host that a request names. */
  cookieName(request: IncomingMessage): string;
};

/** Everything that is served of the operations: the table, the event streams in its place, and the description of it all. */
export function apiRoutes(deps: ApiRouteDeps): readonly Route[] {
  const mounted = mountOperations(deps);
  const streams = streamRoutes({ ...deps, routes: mounted, limits: deps.streams });
  const streamed = new Set(streams.map(({ path }) => path));
  const described = describing(deps.version, () => all);
  const openapi: Route = {
    method: 'GET',
    path: '/api/openapi.json',
    access: 'bootstrap',
    handle: async ({ request }) => ({ status: 200, json: described(deps.cookieName(request)) }),
  };
  const served = [...mounted.filter(({ path }) => !streamed.has(path)), ...streams, openapi];
  const all: readonly Route[] = [...deps.others, ...served];
  return served;
}
