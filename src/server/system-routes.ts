import type { ServerGround } from '../app-options.ts';
import type { Route } from './route.ts';

export type SystemDeps = {
  readonly ground: ServerGround;
  readonly version: string;
  readonly state: { readonly stopping: boolean };
};

const apiVersion = 1;
const policySchemaVersion = 1;

/** What a server says of itself (09 §6.2). */
export function systemRoutes({ ground, version, state }: SystemDeps): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/health',
      access: 'public',
      handle: async () =>
        state.stopping ? { status: 503, json: { status: 'stopping' } } : { status: 200, json: { status: 'ok' } },
    },
    {
      method: 'GET',
      path: '/api/version',
      access: 'bootstrap',
      handle: async () => ({
        status: 200,
        json: {
          version,
          api_version: apiVersion,
          schema_version: ground.schema,
          instance_id: ground.logins.instanceId,
          tenant_id: ground.tenant,
          workspace: ground.workspace,
          policy_schema_version: policySchemaVersion,
        },
      }),
    },
  ];
}
