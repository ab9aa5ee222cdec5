import type { Route } from './route.ts';

export type SystemDeps = {
  readonly state: { readonly stopping: boolean };
};

/** What a server says of itself (09 §6.2). */
export function systemRoutes({ state }: SystemDeps): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/health',
      access: 'public',
      handle: async () =>
        state.stopping ? { status: 503, json: { status: 'stopping' } } : { status: 200, json: { status: 'ok' } },
    },
  ];
}
