/** One `{{namespace}}` or `{{namespace:payload}}` of a text (04 §10). */
export type MacroSite = {
  readonly start: number;
  /** Behind the closing braces. */
  readonly end: number;
  readonly namespace: string;
  /** Without blanks at its ends; null when there is no colon. */
  readonly payload: string | null;
};

/** Finds everything that has the form of a macro, known or not, from left to right. Linear. */
export function macroSites(text: string): MacroSite[] {
  const sites: MacroSite[] = [];
  let close = -1;
  let at = text.indexOf('{{');
  while (at >= 0) {
    if (close < at) close = text.indexOf('}', at);
    if (close < 0) break;
    const site = text.charAt(close + 1) === '}' ? readSite(text, at, close) : null;
    if (site !== null) sites.push(site);
    at = text.indexOf('{{', site === null ? at + 1 : site.end);
  }
  return sites;
}

function readSite(text: string, start: number, close: number): MacroSite | null {
  const head = /\s*([a-z_]+)\s*/y;
  head.lastIndex = start + 2;
  const namespace = head.exec(text)?.[1];
  if (namespace === undefined) return null;
  if (head.lastIndex === close) return { start, end: close + 2, namespace, payload: null };
  if (text.charAt(head.lastIndex) !== ':') return null;
  return { start, end: close + 2, namespace, payload: text.slice(head.lastIndex + 1, close).trim() };
}

/** What stands before the colon of a macro, or alone (04 §10.1). */
export const macroNamespaces = ['var', 'now', 'date', 'chain', 'tools', 'toolservice', 'host', 'edge_count'] as const;

/** What a site means; `null` when it is no macro of the language and stays literal. */
export type Macro =
  | { readonly kind: 'var'; readonly names: readonly string[]; readonly text: string | null }
  | { readonly kind: 'time'; readonly layout: string }
  | { readonly kind: 'chain' }
  | { readonly kind: 'tools_by_provider' }
  | { readonly kind: 'providers' }
  | { readonly kind: 'tools_of'; readonly provider: string }
  | { readonly kind: 'host'; readonly part: 'os' | 'arch' }
  | { readonly kind: 'edge_count'; readonly edge: string }
  | { readonly kind: 'bad'; readonly message: string };

const rfc3339 = '2006-01-02T15:04:05Z07:00';

export function macroOf(site: MacroSite): Macro | null {
  const { namespace, payload } = site;
  switch (namespace) {
    case 'var':
      return payload === null ? null : variable(payload);
    case 'now':
      return { kind: 'time', layout: payload || rfc3339 };
    case 'date':
      return { kind: 'time', layout: payload || '2006-01-02' };
    case 'chain':
      return payload === 'id' ? { kind: 'chain' } : null;
    case 'tools':
      return payload === null ? { kind: 'tools_by_provider' } : null;
    case 'toolservice':
      return toolService(payload ?? '');
    case 'host':
      return payload === 'os' || payload === 'arch' ? { kind: 'host', part: payload } : null;
    case 'edge_count':
      return payload === null ? null : { kind: 'edge_count', edge: payload };
    default:
      return null;
  }
}

/** `a|var:b|text`: alternatives from left to right, the first text always succeeds. */
function variable(payload: string): Macro {
  const [first = '', ...rest] = payload.split('|').map((part) => part.trim());
  const names = [first];
  let text: string | null = null;
  for (const part of rest) {
    const name = /^var\s*:\s*(.*)$/s.exec(part)?.[1];
    if (name === undefined) {
      text = part;
      break;
    }
    names.push(name);
  }
  if (names.includes('')) return { kind: 'bad', message: 'a variable macro names no variable: write {{var:name}}' };
  return { kind: 'var', names, text };
}

function toolService(payload: string): Macro {
  if (payload === 'list') return { kind: 'tools_by_provider' };
  if (payload === 'tools') return { kind: 'providers' };
  const provider = /^tools\s+(\S+)$/.exec(payload)?.[1];
  if (provider !== undefined) return { kind: 'tools_of', provider };
  return {
    kind: 'bad',
    message: `toolservice has no ${JSON.stringify(payload)}: it takes list, tools, or tools and a provider's name`,
  };
}
