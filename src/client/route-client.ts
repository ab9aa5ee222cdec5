import { bindAll } from './local-client.ts';
import { type RouteClient, routed } from './routes.ts';

/** The operations with routes, in this process; `load` gives their services when the first is called. */
export function createRouteClient(load: () => Promise<RouteClient>): RouteClient {
  let services: Promise<RouteClient> | undefined;
  return bindAll(routed, async (name) => {
    services ??= load();
    return (await services)[name];
  });
}
