import type { Brought } from '../schema/overlay.ts';
import { readJson } from '../text/read-json.ts';
import type { Handle } from './handle.ts';

/** Of each kind; more is a number. */
const most = 100;

type Row = Readonly<Record<string, string | null>>;

/** How each kind of registration is told: the place that it leads to, and what of this machine goes there. */
const kinds: readonly {
  readonly kind: Brought['kind'];
  readonly select: string;
  readonly place: (row: Row) => string;
}[] = [
  {
    kind: 'backend',
    select: 'name, base_url, proxy, key_env, headers FROM backends',
    place: ({ base_url, proxy }) => `${base_url}${proxy === '' || proxy === 'none' ? '' : `, by ${proxy}`}`,
  },
  { kind: 'hook', select: 'name, url, headers, inject FROM hooks', place: ({ url }) => url ?? '' },
  {
    kind: 'MCP server',
    select: 'name, transport, command, args, url, auth_env, oauth, env, headers, inject FROM mcp_servers',
    place: ({ transport, command, args, url }) =>
      transport === 'stdio' ? `starts ${[command, ...texts(args)].join(' ')}` : (url ?? ''),
  },
  {
    kind: 'setting',
    select: "substr(key, 8) AS name, value FROM kv WHERE key LIKE 'config.%'",
    place: ({ value }) => String(readJson(value ?? '', value ?? '')),
  },
];

/**
 * What of a database begins to count when it is accepted (11 §4.7), read as text without using any of it: places that are
 * reached, programs that are started, names of variables that go there, and settings.
 */
export function contentsOf(handle: Handle): { readonly brings: readonly Brought[]; readonly more: number } {
  const brings: Brought[] = [];
  let more = 0;
  for (const { kind, select, place } of kinds) {
    // The columns of the SELECT are text, or null.
    const rows = handle.prepare(`SELECT ${select} ORDER BY name`).all() as readonly Row[];
    for (const row of rows.slice(0, most)) {
      brings.push({ kind, name: row['name'] ?? '', value: withoutUser(place(row)), gets: variablesOf(row) });
    }
    more += Math.max(0, rows.length - most);
  }
  return { brings, more };
}

/** Names of the operator's own variables whose values a registration takes (05 §9.1). */
function variablesOf({ key_env, auth_env, oauth, env, headers, inject }: Row): readonly string[] {
  const secret = Reflect.get(objectOf(oauth), 'client_secret_env');
  const passed = Object.entries(objectOf(env)).flatMap(([name, value]) => (value === null ? [name] : []));
  const named = [headers, inject].flatMap((column) =>
    [...(column ?? '').matchAll(/\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name]) => name),
  );
  const all = [key_env, auth_env, secret, ...passed, ...named];
  return [...new Set(all.filter((name): name is string => typeof name === 'string' && name !== ''))];
}

function objectOf(column: string | null | undefined): object {
  const value = readJson<unknown>(column ?? '', null);
  return typeof value === 'object' && value !== null ? value : {};
}

const texts = (column: string | null | undefined): readonly string[] => Object.values(objectOf(column)).map(String);

/** A URL may hold a name and a password. */
export const withoutUser = (text: string): string => text.replaceAll(/(\/\/)[^/?#\s]*@/g, '$1');
