import { RuntimeError } from '../schema/errors.ts';
import type { ProviderType } from '../schema/registry.ts';
import { isLoopbackHost } from '../text/loopback.ts';
import { isUrl, parseUrl } from '../text/parse-url.ts';

/** `a vllm`, `an ollama`: a type as it stands in a sentence. */
export const withArticle = (type: string): string => `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`;

export const isLoopback = (url: string): boolean => isLoopbackHost(parseUrl(url)?.hostname ?? '');

/** A base may well end in `/models` by itself, but not behind a version. */
const openAiPaths = /\/chat\/completions$|(?<=\/v\d+)\/(?:completions|models|responses)$/;

/** What requests of a type begin with themselves: people copy it with the address, from a manual or another program. */
const ownPaths: Readonly<Partial<Record<ProviderType, RegExp>>> = {
  ollama: /\/(?:api(?:\/chat|\/tags|\/generate)?|v1(?:\/chat\/completions)?)$/,
  gemini: /\/v1beta(?:\/models)?$/,
  anthropic: /\/v1(?:\/messages)?$/,
  openai: openAiPaths,
  vllm: openAiPaths,
  'openai-compatible': openAiPaths,
};

/**
 * The address of a model server as it is stored: no trailing slash, nothing that its requests begin with themselves, such
 * as `/api` of an Ollama server, and what the type puts where a path is missing (08 §2.1, §2.2).
 * @throws RuntimeError usage for anything but an http or https URL without user-info, query and fragment
 */
export function serverUrl(type: ProviderType, given: string, pathWhenNone: string): string {
  const refuse = (what: string): never => {
    throw new RuntimeError('usage', `The URL of ${withArticle(type)} backend ${what}.`);
  };
  const url = parseUrl(given) ?? refuse('must be an http or https URL, such as http://127.0.0.1:8000');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') refuse('must begin with http:// or https://');
  if (url.username !== '' || url.password !== '') refuse('must not hold a user name or password; use --api-key-env');
  if (url.search !== '' || url.hash !== '')
    refuse('must not hold a query or fragment; use --header for what it carries');
  const own = ownPaths[type];
  const plain = url.pathname.replace(/\/+$/, '');
  const path = own === undefined ? plain : plain.replace(own, '');
  return `${url.origin}${path === '' ? pathWhenNone : path}`;
}

type Environment = Readonly<Record<string, string | undefined>>;

const variable = (environment: Environment, name: string): string => {
  const found = environment[name] ?? environment[name.toLowerCase()] ?? '';
  return found.trim();
};

/** The proxy of a request: a URL, or null for a direct one. Loopback never goes through a proxy (08 §11.1). */
export function proxyFor(setting: string, url: string, environment: Environment): string | null {
  const target = parseUrl(url);
  if (setting === 'none' || target === null || isLoopback(url)) return null;
  if (setting !== '') return setting;
  if (isExempt(target, variable(environment, 'NO_PROXY'))) return null;
  const proxy = variable(environment, target.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  if (proxy === '') return null;
  return isUrl(proxy) ? proxy : `http://${proxy}`;
}

/** Entries are `*`, hosts, and domains with or without a leading dot, each with an optional port. */
function isExempt(target: URL, list: string): boolean {
  const port = target.port === '' ? (target.protocol === 'https:' ? '443' : '80') : target.port;
  const host = target.hostname.toLowerCase().replace(/^\[|\]$/g, '');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .some((word) => {
      if (word === '*') return true;
      const [, name = word, only] = /^(.*?)(?::(\d+))?$/.exec(word.replace(/^\[|\]$/g, '')) ?? [];
      if (only !== undefined && only !== port && !name.includes(':')) return false;
      const domain = (name.includes(':') ? word.replace(/^\[|\]$/g, '') : name).replace(/^\*?\./, '');
      return host === domain || host.endsWith(`.${domain}`);
    });
}
