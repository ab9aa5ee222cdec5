import { readTexts } from '../registry/backend-fields.ts';
import { createPins } from '../registry/pins.ts';
import type { Hooks } from '../registry/hooks.ts';
import type { Services } from '../client/local-client.ts';
import { createHookRows } from '../store/hooks.ts';
import { createToolPins } from '../store/tool-pins.ts';
import { once } from '../text/once.ts';
import { noSources } from '../tools/source.ts';
import { lazyServices } from './lazy-services.ts';
import type { RoomsInput } from './rooms-input.ts';
import type { SourceRoom } from './tool-sources.ts';

type HookServices = Pick<
  Services,
  'addHook' | 'listHooks' | 'showHook' | 'updateHook' | 'refreshHook' | 'acceptHook' | 'removeHook'
>;

/** Hooks, loaded when an operation or a run needs them; a listing of their names needs only the database. */
export function openHookRooms(input: RoomsInput) {
  const { options, workspace, secrets, pools, store, now } = input;
  const rows = createHookRows(store.sql, options.tenant);
  const { feed, record, tell } = store;
  const { by } = store.actor;
  // Every secret is known to the mask before anything runs, whether or not its hook is used (11 §5.3.1).
  for (const { name, headers, inject } of rows.list()) {
    for (const [key, value] of Object.entries({ ...readTexts(headers), ...readTexts(inject) })) {
      secrets.expand(value, `${name}.${key}`);
    }
  }
  const hooks = once(async (): Promise<Hooks> => {
    const [{ createHooks }, { wholeDiff }] = await Promise.all([
      import('../registry/hooks.ts'),
      import('../tools/files/diff.ts'),
    ]);
    return createHooks({
      rows,
      registry: store.registry,
      pins: createPins({ store: createToolPins(store.sql, options.tenant), feed, record, tell, now }),
      secrets,
      record,
      network: {
        ownPorts: () => options.serving?.ports() ?? [],
        async lookup(host) {
          const { lookup } = await import('node:dns/promises');
          return lookup(host, { all: true, verbatim: true });
        },
      },
      now,
      cwd: workspace.cwd,
      diff: wholeDiff,
      readYaml: pools.readYaml,
      userAgent: `reins/${options.version}`,
      ttlMs: () => store.settings.value('hook-spec-ttl'),
    });
  });
  const room: SourceRoom = {
    names: rows.names,
    async open(names) {
      const { open } = await hooks();
      return { ...noSources, opened: await Promise.all(names.map(open)) };
    },
    check: async (ask) => (await hooks()).check(ask),
    argumentNames: async () => (await hooks()).argumentNames,
    tools: async () => (await hooks()).registeredTools(),
  };
  const services: HookServices = lazyServices(
    ['addHook', 'listHooks', 'showHook', 'updateHook', 'refreshHook', 'acceptHook', 'removeHook'],
    async () => {
      const { addHook, listHooks, showHook, updateHook, refreshHook, acceptHook, removeHook } = await hooks();
      return {
        addHook,
        listHooks,
        showHook,
        updateHook,
        removeHook,
        refreshHook: (wanted: Parameters<typeof refreshHook>[0]) => refreshHook(wanted, by),
        acceptHook: (wanted: Parameters<typeof acceptHook>[0]) => acceptHook(wanted, by),
      };
    },
  );
  return { room, services };
}
