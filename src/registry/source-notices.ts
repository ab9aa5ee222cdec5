import type { Notice } from '../schema/event.ts';
import type { SourceKind } from '../schema/tool-sources.ts';
import type { Listing, SourceRef } from './pins.ts';

type Source = Pick<SourceRef, 'kind' | 'name'>;

const whatIs: Readonly<Record<SourceKind, string>> = { hook: 'hook', mcp: 'MCP server' };

/** What a run is told of the hooks and tool servers that it may use. `data` always names the source as `tools`. */
export const sourceNotice = (
  level: 'info' | 'warn',
  code: string,
  { name }: Source,
  message: string,
  data: object = {},
): Notice => ({ kind: 'notice', level, code, message, data: { tools: name, ...data } });

/** Its tools are not there, or cannot be called. */
export const unavailable = (source: Source, reason: string): Notice =>
  sourceNotice(
    'warn',
    'provider_unavailable',
    source,
    `The ${whatIs[source.kind]} ${source.name} cannot be used: ${reason}`,
  );

/** The first listing of a source is accepted as it is. */
export const firstUse = (source: Source, { tools, sha256 }: Listing): Notice => {
  const whose = `${whatIs[source.kind]} ${source.name}`;
  const message =
    tools.length === 0
      ? `${whose} lists no tool yet: what it lists later is used once it was accepted.`
      : `The ${tools.length} tools of ${whose} were accepted as they are now.`;
  return sourceNotice('info', 'definition_first_use', source, message, { definition_sha256: sha256 });
};

/** Tools of a listing that are not what was accepted; none where all are. */
export function quarantined(source: Source, { tools }: Listing): readonly Notice[] {
  const { kind, name } = source;
  const held = tools.filter(({ state }) => state === 'quarantined').map(({ tool }) => tool);
  if (held.length === 0) return [];
  const which = held.length === 1 ? `The tool ${held[0]}` : `${held.length} tools`;
  const message = `${which} of ${whatIs[kind]} ${name} changed and cannot be called: reins ${kind} accept ${name} shows the difference.`;
  return [sourceNotice('warn', 'tool_quarantined', source, message, { quarantined: held.slice(0, 50) })];
}

/** What a model hears that calls such a tool. */
export const quarantinedText = ({ kind, name }: Source, tool: string): string =>
  `The definition of ${name}.${tool} is not the one that was accepted. The operator looks at it with reins ${kind} accept ${name}.`;
