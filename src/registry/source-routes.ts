import { createHash } from 'node:crypto';
import { checkMatch } from '../schema/match.ts';
import type { McpCheck, McpServerView } from '../schema/mcp-server.ts';
import type { HookView, ListedTool } from '../schema/tool-sources.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { requestedPolicy } from '../workspace/files.ts';
import type { Hooks } from './hooks.ts';
import type { GivenMcpFields, McpIdentity } from './mcp-fields.ts';

type Named = { readonly name: string };
type Match = { readonly if_match?: string | undefined };
/** Members that may be absent: what is absent stays as it is. */
type Given<T> = { readonly [N in keyof T]?: Exclude<T[N], null> | undefined };
type HookGiven = Given<Omit<Parameters<Hooks['addHook']>[0], 'name'>>;
type Accept = Named & { readonly tools?: string[] | undefined };

export type SourceRouteDeps = Pick<Hooks, 'addHook' | 'listHooks' | 'showHook' | 'updateHook' | 'removeHook'> & {
  readonly refreshHook: (input: Named) => Promise<HookView>;
  readonly acceptHook: (input: Accept & { readonly definition_sha256: string }) => Promise<HookView>;
  readonly addMcpServer: (
    input: Named & Omit<McpIdentity, 'args'> & { readonly args: string[] } & GivenMcpFields,
  ) => Promise<ServerChanged>;
  readonly listMcpServers: (input: Readonly<Record<string, never>>) => Promise<readonly McpServerView[]>;
  readonly showMcpServer: (input: Named) => Promise<McpServerView>;
  readonly updateMcpServer: (input: Named & GivenMcpFields) => Promise<ServerChanged>;
  readonly removeMcpServer: (input: Named) => Promise<null>;
  readonly checkMcpServer: (input: Named) => Promise<McpCheck>;
  readonly acceptMcpServer: (input: Accept & { readonly definition_sha256: string | null }) => Promise<McpServerView>;
  /** The policy of runs that name none; null = the one of the overlay. */
  readonly policy: string | null;
  readonly listTools: (input: {
    readonly policy: string | null;
    readonly chain: string | null;
  }) => Promise<readonly ListedTool[]>;
};
type ServerChanged = { readonly server: McpServerView; readonly warnings: readonly string[] };

/** The operations of `client/routes/tool-sources.ts`. No value of a header, an inject or a variable leaves through them. */
export function createSourceRoutes(deps: SourceRouteDeps) {
  return {
    pageHooks: async () => (await deps.listHooks({})).map((hook) => hookShown(hook)),
    getHook: async ({ name }: Named) => hookShown(await deps.showHook({ name })),

    async createHook({ name, ...given }: Named & HookGiven) {
      const { hook, warnings, notes } = await deps.addHook({ name, ...hookFields(given) });
      return hookShown(hook, [...warnings, ...notes]);
    },

    /** @throws RuntimeError precondition_failed when the registration is another one now */
    async patchHook({ name, if_match, ...given }: Named & Match & HookGiven) {
      checkMatch(hookTag(await deps.showHook({ name })), if_match);
      const { hook, warnings, notes } = await deps.updateHook({ name, ...hookFields(given) });
      return hookShown(hook, [...warnings, ...notes]);
    },

    async deleteHook({ name, if_match }: Named & Match): Promise<null> {
      checkMatch(hookTag(await deps.showHook({ name })), if_match);
      return deps.removeHook({ name });
    },

    postHookRefresh: async ({ name }: Named) => hookShown(await deps.refreshHook({ name })),
    postHookAccept: async (input: Accept & { readonly definition_sha256: string }) =>
      hookShown(await deps.acceptHook(input)),

    pageMcpServers: async () => (await deps.listMcpServers({})).map((server) => serverShown(server)),
    getMcpServer: async ({ name }: Named) => serverShown(await deps.showMcpServer({ name })),

    async createMcpServer({
      name,
      transport,
      command,
      args,
      cwd,
      url,
      pin_command,
      ...given
    }: Named & Given<McpIdentity & GivenMcpFields>) {
      const { server, warnings } = await deps.addMcpServer({
        name,
        transport: transport ?? null,
        command: command ?? null,
        args: [...(args ?? [])],
        cwd: cwd ?? null,
        url: url ?? null,
        pin_command: pin_command === true,
        ...serverFields(given),
      });
      return serverShown(server, warnings);
    },

    async patchMcpServer({ name, if_match, ...given }: Named & Match & Given<GivenMcpFields>) {
      checkMatch(serverTag(await deps.showMcpServer({ name })), if_match);
      const { server, warnings } = await deps.updateMcpServer({ name, ...serverFields(given) });
      return serverShown(server, warnings);
    },

    async deleteMcpServer({ name, if_match }: Named & Match): Promise<null> {
      checkMatch(serverTag(await deps.showMcpServer({ name })), if_match);
      return deps.removeMcpServer({ name });
    },

    async postMcpCheck({ name }: Named) {
      const check = await deps.checkMcpServer({ name });
      return { ...check, server: serverShown(check.server, check.notices) };
    },

    postMcpAccept: async (input: Accept & { readonly definition_sha256: string | null }) =>
      serverShown(await deps.acceptMcpServer(input)),

    /** @throws RuntimeError invalid_parameter where the policy is named by a path; not_found */
    async pageTools({ policy, chain }: { readonly policy?: string | undefined; readonly chain?: string | undefined }) {
      return [...(await deps.listTools({ policy: requestedPolicy(policy) ?? deps.policy, chain: chain ?? null }))];
    },
  };
}

const hookShown = (hook: HookView, warnings: readonly string[] = []) => ({
  ...hook,
  etag: hookTag(hook),
  warnings: [...warnings],
});

const serverShown = (server: McpServerView, warnings: readonly string[] = []) => ({
  ...server,
  etag: serverTag(server),
  warnings: [...warnings],
});

const hookFields = (given: HookGiven) => ({
  url: given.url ?? null,
  spec: given.spec ?? null,
  headers: given.headers ?? null,
  inject: given.inject ?? null,
  timeout_ms: given.timeout_ms ?? null,
  allow_private: given.allow_private ?? null,
});

const serverFields = (given: Given<GivenMcpFields>): GivenMcpFields => ({
  headers: given.headers ?? null,
  inject: given.inject ?? null,
  env: given.env ?? null,
  auth_type: given.auth_type ?? null,
  auth_env: given.auth_env ?? null,
  auth_token: given.auth_token ?? null,
  oauth_client_id: given.oauth_client_id ?? null,
  oauth_client_secret_env: given.oauth_client_secret_env ?? null,
  oauth_scopes: given.oauth_scopes ?? null,
  connect_timeout_ms: given.connect_timeout_ms ?? null,
  call_timeout_ms: given.call_timeout_ms ?? null,
});

/** Every change of what is registered has a time of its own; what a service was last seen to offer is no part of it. */
const hookTag = ({ name, url, spec, created_at, updated_at }: HookView): string =>
  tagOf([name, url, spec, created_at, updated_at]);
const serverTag = ({ name, transport, command, url, created_at, updated_at }: McpServerView): string =>
  tagOf([name, transport, command, url, created_at, updated_at]);
const tagOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(canonicalJson(parts)).digest('hex').slice(0, 32);
