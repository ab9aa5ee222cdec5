import type { Services } from '../client/local-client.ts';
import { supportBundle } from '../registry/bundle.ts';
import { countRows } from '../store/row-counts.ts';
import type { RoomsInput } from './rooms-input.ts';

type BundleInput = Pick<RoomsInput, 'options' | 'secrets' | 'store'> & {
  readonly setup: Pick<Services, 'doctor'>;
  readonly backends: Pick<Services, 'listBackends'>;
  readonly tools: Pick<Services, 'listHooks' | 'listMcpServers'>;
};

/** What `doctor --bundle` collects from the rooms; loaded when somebody asks for it. */
export function bundleServices({ options, secrets, store, setup, backends, tools }: BundleInput) {
  return {
    doctorBundle: async (wanted: Parameters<Services['doctorBundle']>[0]) => ({
      files: await supportBundle(
        {
          doctor: setup.doctor,
          listConfig: store.settings.listConfig,
          listBackends: () => backends.listBackends({}),
          listHooks: () => tools.listHooks({}),
          listMcpServers: () => tools.listMcpServers({}),
          maskDeep: secrets.maskDeep,
          versions: {
            version: options.version,
            node: process.versions.node,
            platform: process.platform,
            arch: process.arch,
          },
          rowCounts: () => countRows(store.sql),
          lastEvents: (limit) => store.events.latest(limit).map(({ event }) => event),
        },
        wanted,
      ),
    }),
  };
}
