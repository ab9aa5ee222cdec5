import type { PrepareDeps } from '../runs/ports.ts';
import type { RegisteredTool, SourceCheck } from '../schema/tool-sources.ts';
import type { Secrets } from '../registry/secrets.ts';
import { noSources, type RunSources } from '../tools/source.ts';
import { countedSources } from './counted-sources.ts';
import { withMaskedTools } from './mask-tools.ts';

/** Where one kind of source (hooks, tool servers) gives its tools to runs. */
export type SourceRoom = {
  /** Names of what is registered: one look at an index, for which nothing is loaded. */
  names(): readonly string[];
  /** Called only with names that a run may use. What fails is told in notices; nothing of it rejects. */
  open(names: readonly string[]): Promise<RunSources>;
  /** For `doctor`: all that is registered; `ask` null: as it was last known. Never rejects. */
  check(ask: { readonly timeoutMs: number } | null): Promise<readonly SourceCheck[]>;
  /** What a tool of it takes beside injected arguments, from its last listing; null for a tool that it does not have. */
  argumentNames(): Promise<ArgumentNames>;
  /** Every tool of its last listings. */
  tools(): Promise<readonly RegisteredTool[]>;
};

export type ArgumentNames = (tools: string, tool: string) => readonly string[] | null;

/** The sources that a run may use, of all kinds, opened at the same time; known secrets are hidden in what they say. */
export function runSources(
  rooms: readonly SourceRoom[],
  secrets: Pick<Secrets, 'maskKnownDeep'>,
): PrepareDeps['sources'] {
  return async ({ mayUse }) => {
    const wanted = rooms
      .map((room) => ({ room, names: room.names().filter((name) => mayUse(name)) }))
      .filter(({ names }) => names.length > 0);
    if (wanted.length === 0) return noSources;
    const all = await Promise.all(wanted.map(({ room, names }) => room.open(names)));
    const together: RunSources = {
      opened: all.flatMap(({ opened }) => opened),
      onChange: (listener) => {
        for (const one of all) one.onChange(listener);
      },
      close: () => {
        for (const one of all) one.close();
      },
    };
    return withMaskedTools(secrets, countedSources(together));
  };
}

/** All kinds for `doctor`; where nothing is registered, nothing is loaded. */
export const sourceChecks =
  (rooms: readonly SourceRoom[]) =>
  async (ask: { readonly timeoutMs: number } | null): Promise<readonly SourceCheck[]> => {
    const used = rooms.filter((room) => room.names().length > 0);
    return (await Promise.all(used.map((room) => room.check(ask)))).flat();
  };

/** The arguments of the tools of all kinds, for rules that name each of them. */
export const sourceArguments = (rooms: readonly SourceRoom[]) => async (): Promise<ArgumentNames> => {
  const used = rooms.filter((room) => room.names().length > 0);
  const all = await Promise.all(used.map((room) => room.argumentNames()));
  return (tools, tool) => all.map((names) => names(tools, tool)).find((names) => names !== null) ?? null;
};

/** The tools of all kinds as they were listed last. */
export const sourceTools =
  (rooms: readonly SourceRoom[], secrets: Pick<Secrets, 'maskKnownDeep'>) =>
  async (): Promise<readonly RegisteredTool[]> => {
    const used = rooms.filter((room) => room.names().length > 0);
    return secrets.maskKnownDeep((await Promise.all(used.map((room) => room.tools()))).flat());
  };
