import type { Chain } from '../schema/chain.ts';
import { RuntimeError } from '../schema/errors.ts';
import { expandMacros } from './macros.ts';

/** What counts where a task names nothing. */
type Defaults = { readonly model: string; readonly provider: string };

/** Models and provider types that a run could use; absent: the default. */
export type ModelNames = { readonly models?: readonly string[]; readonly providers?: readonly string[] };

/**
 * Names that the model tasks give themselves, when none of them uses the default alone: then one of those must be ready
 * (08 §12.3). Null where a name needs a variable that nobody gave: the task says so, and no default would mend it.
 * @param given the caller's variables
 */
export function modelNames(
  chain: Chain,
  given: Readonly<Record<string, string>>,
  defaults: Defaults,
): ModelNames | null {
  const variables = { ...given, model: defaults.model, provider: defaults.provider, chain: chain.id };
  const models = new Set<string>();
  const providers = new Set<string>();
  for (const { execute_config: config } of chain.tasks) {
    if (config === undefined) continue;
    const wanted = namesOf(config.model, config.models, variables);
    const types = namesOf(config.provider, config.providers, variables);
    if (wanted === null || types === null) return null;
    const usesDefault = ({ name, isLiteral }: Named): boolean => !isLiteral && (name === '' || name === defaults.model);
    if (wanted.length > 0 && wanted.every(usesDefault)) return {};
    for (const { name } of wanted) models.add(name === '' ? defaults.model : name);
    for (const { name } of types) providers.add(name);
  }
  providers.delete('');
  return {
    ...(models.size === 0 ? {} : { models: [...models] }),
    ...(providers.size === 0 ? {} : { providers: [...providers] }),
  };
}

type Named = { readonly name: string; readonly isLiteral: boolean };

/** What a task writes, with its macros expanded as the task will (04 §10); null where one has no value. */
function namesOf(
  first: string | undefined,
  more: readonly string[] | undefined,
  variables: Readonly<Record<string, string>>,
): readonly Named[] | null {
  const written = [first ?? '', ...(more ?? [])].filter((name) => name !== '');
  const scope = { task_id: '', chain_id: '', variables, now: 0, timezone: '', host: { os: '', arch: '' } };
  try {
    return written.map((name) => ({
      name: expandMacros(name, { ...scope, tools: [], edge_counts: {} }, '').trim(),
      isLiteral: !name.includes('{{'),
    }));
  } catch (error) {
    if (error instanceof RuntimeError) return null;
    throw error;
  }
}
