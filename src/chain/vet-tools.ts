import { builtInProviders, catalogTools } from '../schema/tool-names.ts';
import { wireName } from '../text/wire-name.ts';
import { exposesNothing, readEntry } from './allowlist.ts';
import { placeOf, type Findings } from './findings.ts';
import type { JsonNode, JsonString } from './json.ts';
import { stringsOf } from './shape.ts';
import { meantAmong, meantName } from './spelling.ts';

const builtIn: ReadonlySet<string> = new Set(builtInProviders);

/** Filled in when the task runs. */
export const hasMacro = (text: string): boolean => text.includes('{{');

/** Checks an allowlist (04 §11). `providers` is null when nothing is known of those that are registered. */
export function vetAllowlist(list: JsonNode | null, providers: readonly string[] | null, findings: Findings): void {
  const entries = stringsOf(list);
  const texts = entries.map((entry) => entry.value);
  if (list !== null && !texts.some(hasMacro) && exposesNothing(texts)) {
    findings.warning('allowlist_empty', placeOf(list), 'this allowlist exposes no tool; name what is allowed, or "*"');
  }
  for (const entry of entries.filter(({ value }) => !hasMacro(value))) {
    const { exclude, provider, tool } = readEntry(entry.value);
    if (tool !== null) warnUnknownTool(provider, tool, entry, findings);
    if (!exclude && provider !== '*') warnUnknownProvider(provider, entry, providers, findings);
  }
}

/**
 * Checks `hide_tools`: a misspelt entry hides nothing, and nobody would see it. A tool alone may be that of any provider, so it
 * is compared only where no others are registered.
 */
export function vetHidden(list: JsonNode | null, providers: readonly string[] | null, findings: Findings): void {
  for (const entry of stringsOf(list)) {
    const name = entry.value;
    const { provider, tool } = readEntry(name);
    if (hasMacro(name)) continue;
    if (tool !== null) warnUnknownTool(provider, tool, entry, findings);
    else if (providers?.length === 0 && !hideable.has(name)) {
      const meant = meantName(name, [...hideable]);
      const advice = meant === null ? 'name a tool, alone or as provider.tool' : `did you mean ${meant}?`;
      findings.warning('unknown_tool', placeOf(entry), `there is no tool ${JSON.stringify(name)} to hide; ${advice}`);
    }
  }
}

/** What hides a tool of our own: its name, and the one that models are given. */
const hideable: ReadonlySet<string> = new Set(
  [...catalogTools].flatMap(([provider, tools]) => tools.flatMap((tool) => [tool, wireName(`${provider}.${tool}`)])),
);

/** Checks the `tools` block of a task (04 §7.3). */
export function vetNamedTool(
  provider: JsonString,
  tool: JsonString | null,
  providers: readonly string[] | null,
  findings: Findings,
): void {
  const { provider: before, tool: behind } = readEntry(provider.value);
  if (tool === null && behind !== null && !hasMacro(provider.value) && builtIn.has(before)) {
    const advice = `write name ${JSON.stringify(before)} and tool_name ${JSON.stringify(behind)}`;
    findings.warning('unknown_provider', placeOf(provider), `${JSON.stringify(provider.value)} is a tool; ${advice}`);
    return;
  }
  if (tool !== null && tool.value !== '' && !hasMacro(tool.value)) {
    warnUnknownTool(provider.value, tool.value, tool, findings);
  }
  warnUnknownProvider(provider.value, provider, providers, findings);
}

function warnUnknownTool(provider: string, tool: string, node: JsonNode, findings: Findings): void {
  const tools = catalogTools.get(provider);
  if (tools === undefined || tools.includes(tool)) return;
  const meant = meantAmong(tool, new Set(tools));
  const advice = meant === '' ? `; it has ${tools.join(', ')}` : meant;
  findings.warning('unknown_tool', placeOf(node), `${provider} has no tool ${JSON.stringify(tool)}${advice}`);
}

function warnUnknownProvider(
  provider: string,
  node: JsonNode,
  providers: readonly string[] | null,
  findings: Findings,
): void {
  if (providers === null || builtIn.has(provider) || providers.includes(provider)) return;
  findings.warning(
    'unknown_provider',
    placeOf(node),
    `no tool provider ${JSON.stringify(provider)} is registered here${meantAmong(provider, new Set([...builtIn, ...providers]))}`,
  );
}
