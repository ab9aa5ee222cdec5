import { RuntimeError } from '../schema/errors.ts';
import type { ToolSpec } from '../schema/message.ts';
import { nearNames } from './near.ts';
import type { Tool, ToolPlace } from './tool.ts';
import { wireName } from '../text/wire-name.ts';

export type ResolvedName =
  | { readonly kind: 'found'; readonly tool: Tool }
  /** At most 10 near names of what was offered. */
  | { readonly kind: 'unknown'; readonly similar: readonly string[] };

/** All tools of a process by (`tools`, `tool`). */
export type Catalog = {
  find(tools: string, tool: string): Tool | null;
  /** 04 §14.2.1: an exact `<tools>.<tool>`, else a tool name that is unique among the offered ones. Never throws. */
  resolve(name: string, offered: readonly string[]): ResolvedName;
  /** The tools that pass the filter, described for where they will run; in the order of registration. */
  list(filter?: (spec: ToolSpec) => boolean, place?: ToolPlace): readonly ToolSpec[];
  /** The tools of one provider become these. @throws RuntimeError already_exists */
  replace(provider: string, tools: readonly Tool[]): void;
  /** How often tools were replaced. */
  version(): number;
};

const fullName = (spec: ToolSpec): string => `${spec.tools}.${spec.tool}`;

/** @throws RuntimeError already_exists when two tools have one name: nothing shadows anything (05 §1.1). */
export function createCatalog(given: readonly Tool[]): Catalog {
  let tools = given;
  let byName = index(tools);
  let version = 0;

  const uniqueTail = (name: string, offered: readonly string[]): Tool | null => {
    const matches = new Set(offered.filter((one) => one.endsWith(`.${name}`) && byName.has(one)));
    const [only] = matches;
    return matches.size === 1 && only !== undefined ? (byName.get(only) ?? null) : null;
  };

  /**
   * One that only says why it cannot be called, by the name by which a model knew it: what is not offered is in no map of
   * names, and a model calls what it finds in the history.
   */
  const refusing = (name: string): Tool | null => {
    const found = tools.filter(({ spec, offered }) => offered === false && wireName(fullName(spec)) === name);
    return found.length === 1 ? (found[0] ?? null) : null;
  };

  return {
    find: (provider, tool) => byName.get(`${provider}.${tool}`) ?? null,
    resolve(name, offered) {
      const tool = byName.get(name) ?? (name === '' ? null : (uniqueTail(name, offered) ?? refusing(name)));
      return tool === null ? { kind: 'unknown', similar: nearNames(name, offered, 10) } : { kind: 'found', tool };
    },
    list(filter = () => true, place) {
      const specs: ToolSpec[] = [];
      for (const { spec, describe, offered } of tools) {
        if (offered === false || !filter(spec)) continue;
        specs.push(describe === undefined || place === undefined ? spec : { ...spec, description: describe(place) });
      }
      return specs;
    },
    replace(provider, replaced) {
      const all = [...tools.filter(({ spec }) => spec.tools !== provider), ...replaced];
      byName = index(all);
      tools = all;
      version += 1;
    },
    version: () => version,
  };
}

function index(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    const name = fullName(tool.spec);
    if (byName.has(name)) throw new RuntimeError('already_exists', `two tools are named ${name}; remove one of them`);
    byName.set(name, tool);
  }
  return byName;
}
