import type { Call } from './operations.ts';
import { accountRoutes } from './routes/account.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { backendRoutes } from './routes/backends.ts';
import { chainRoutes } from './routes/chains.ts';
import { planRoutes } from './routes/plans.ts';
import { policyRoutes } from './routes/policies.ts';
import { runRoutes } from './routes/runs.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { systemRoutes } from './routes/system.ts';
import { toolSourceRoutes } from './routes/tool-sources.ts';
import { trustRoutes } from './routes/trust.ts';
import { usageRoutes } from './routes/usage.ts';

/**
 * The one table of routes (09 §6.1): nothing else is mounted, described or called over HTTP, but for the login and the
 * event streams. It is apart from the other operations so that a command of the terminal does not load it.
 */
export const routed = {
  ...systemRoutes,
  ...sessionRoutes,
  ...runRoutes,
  ...approvalRoutes,
  ...policyRoutes,
  ...chainRoutes,
  ...backendRoutes,
  ...trustRoutes,
  ...planRoutes,
  ...toolSourceRoutes,
  ...usageRoutes,
} as const;
export type RouteName = keyof typeof routed;

/** The operations with routes, whether their server is this process (`local-client.ts`) or another one (`http-client.ts`). */
export type RouteClient = { readonly [N in RouteName]: Call<(typeof routed)[N]> };

/** Everything that a server answers by its table: the operations, and the login. */
export const answered = { ...routed, ...accountRoutes } as const;
export type AccountClient = { readonly [N in keyof typeof accountRoutes]: Call<(typeof accountRoutes)[N]> };
