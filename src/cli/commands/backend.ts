import { usage } from '../../schema/errors.ts';
import { type BackendView, type ProviderType, providerTypes } from '../../schema/registry.ts';
import type { Context, Handler } from '../context.ts';
import { readStdinText } from '../input.ts';
import { pairs } from '../pairs.ts';

const fields = async (context: Context) => {
  const { flags } = context.invocation;
  const key = flags.text('api-key');
  if (key !== null && flags.has('api-key-env')) throw usage('--api-key and --api-key-env exclude each other');
  if (key === '') throw usage('--api-key is empty');
  if (key !== null && key !== '-') {
    context.warn('a key on the command line shows in the process list; prefer --api-key-env, or --api-key - and stdin');
  }
  return {
    url: flags.text('url'),
    key_env: flags.text('api-key-env'),
    key_literal: key === '-' ? await readStdinText(context, '--api-key') : key,
    headers: flags.has('header') ? readHeaders(flags.list('header')) : null,
    proxy: flags.text('proxy'),
    connect_timeout_ms: flags.number('connect-timeout'),
    first_byte_timeout_ms: flags.number('first-byte-timeout'),
    idle_timeout_ms: flags.number('idle-timeout'),
  };
};

/** `--header "K: V"`, repeated; a single empty one clears the map. @throws RuntimeError usage */
export function readHeaders(given: readonly string[]): Record<string, string> {
  if (given.length === 1 && given[0] === '') return {};
  const headers = given.map((text): [string, string] => {
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([^\r\n]*)$/.exec(text);
    // What stands behind the name may be a key, whatever sign was put between.
    const shown = /^[^:=\s]*/.exec(text)?.[0] ?? '';
    if (match === null) throw usage(`--header: "${shown}…" is not of the form "Name: value" on one line`);
    return [match[1] ?? '', match[2] ?? ''];
  });
  return pairs('header', headers, (name) => name.toLowerCase());
}

const typeOf = (text: string | null): ProviderType => providerTypes.find((type) => type === text) ?? 'ollama';
const name = (context: Context) => context.invocation.words[0] ?? '';

const said = async (
  context: Context,
  result: { readonly backend: BackendView; readonly warnings: readonly string[] },
  word: string,
): Promise<number> => {
  for (const warning of result.warnings) context.warn(warning);
  const { backend } = result;
  if (context.globals.format !== 'text') await context.printJson(shownBackend(backend));
  else await context.print(`Backend "${backend.name}" ${word} (${backend.type} → ${backend.baseUrl}).`);
  return 0;
};

const add: Handler = async (context) => {
  const type = typeOf(context.invocation.flags.text('type'));
  const given = await fields(context);
  const client = await context.client();
  const code = await said(context, await client.addBackend({ name: name(context), type, ...given }), 'added');
  const provider = await client.getConfig({ key: 'default-provider' });
  if (provider.source === 'set' && provider.value !== type) {
    context.hint(
      `default-provider is ${provider.value}: others are asked only where a run names them; ` +
        `reins config set default-provider ${type}`,
    );
  }
  return code;
};

const update: Handler = async (context) => {
  const given = await fields(context);
  if (Object.values(given).every((value) => value === null)) {
    throw usage('nothing to change', [`reins backend update ${name(context)} --url <url>`]);
  }
  return said(context, await (await context.client()).updateBackend({ name: name(context), ...given }), 'updated');
};

const list: Handler = async (context) => {
  const backends = await (await context.client()).listBackends({});
  if (context.globals.format !== 'text') {
    await context.printJson(backends.map(shownBackend));
    return 0;
  }
  if (!backends.some((backend) => !backend.builtIn)) {
    context.hint('no backend is registered; reins backend add local --type ollama registers one');
  }
  if (backends.length === 0) return 0;
  await context.printTable(
    [{ title: 'NAME' }, { title: 'TYPE' }, { title: 'URL', flexible: true }, { title: 'KEY' }],
    backends.map((backend) => [
      backend.builtIn ? `${backend.name} (built-in)` : backend.name,
      backend.type,
      backend.baseUrl,
      backend.keySource === 'none' ? '' : backend.keySource,
    ]),
  );
  return 0;
};

/** The members of 06 §17, in their order. */
const shownBackend = (backend: BackendView) => ({
  id: backend.id,
  name: backend.name,
  type: backend.type,
  baseUrl: backend.baseUrl,
  keySource: backend.keySource,
  headers: backend.headers,
  proxy: backend.proxy,
  timeouts: backend.timeouts,
  createdAt: backend.createdAt,
  updatedAt: backend.updatedAt,
});

const show: Handler = async (context) => {
  const backend = shownBackend(await (await context.client()).showBackend({ name: name(context) }));
  if (context.globals.format !== 'text') await context.printJson(backend);
  else await context.print(JSON.stringify(backend, null, 2));
  return 0;
};

const test: Handler = async (context) => {
  const probe = await (await context.client()).testBackend({ name: name(context) });
  if (context.globals.format !== 'text') await context.printJson(probe);
  else if (probe.reachable) {
    const models =
      probe.chat_models === 0
        ? 'lists no chat models'
        : `${probe.chat_models} chat model${probe.chat_models === 1 ? '' : 's'}`;
    await context.print(`reachable; ${models}; ${Math.round(probe.latency_ms)} ms`);
  } else {
    const hint = probe.hint === null ? '' : `\n  ${probe.hint}`;
    const what = `backend "${name(context)}": ${probe.error ?? 'no answer'}`;
    context.terminal.err(`reins: ${context.safe(`${what} (${probe.error_class})${hint}`)}\n`);
  }
  return probe.reachable ? 0 : 7;
};

const remove: Handler = async (context) => {
  await (await context.client()).removeBackend({ name: name(context) });
  if (context.globals.format !== 'text') await context.printJson({ removed: name(context) });
  else await context.print(`Removed backend "${name(context)}".`);
  return 0;
};

export const handlers = { add, list, show, update, test, remove };
