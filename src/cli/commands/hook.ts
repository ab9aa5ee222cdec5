import { RuntimeError, usage } from '../../schema/errors.ts';
import type { HookView } from '../../schema/tool-sources.ts';
import { plural } from '../../view/format.ts';
import { acceptDefinitions, differenceLines } from '../accept-definitions.ts';
import type { Context, Handler } from '../context.ts';
import { injectFlag } from '../inject-flag.ts';
import { untilInterrupted } from '../until-interrupted.ts';
import { readHeaders } from './backend.ts';

const nameOf = (context: Context) => context.invocation.words[0] ?? '';

const fields = ({ invocation: { flags } }: Context) => ({
  url: flags.text('url'),
  spec: flags.text('spec'),
  headers: flags.has('header') ? readHeaders(flags.list('header')) : null,
  inject: flags.has('inject') ? injectFlag(flags.list('inject')) : null,
  timeout_ms: flags.number('timeout'),
  allow_private: flags.bool('allow-private'),
});

const add: Handler = async (context) => {
  const name = nameOf(context);
  const given = fields(context);
  if (given.url === null) throw usage('hook add needs --url', [`reins hook add ${name} --url <url>`]);
  const client = await context.client();
  const { warnings, notes } = await client.addHook({ name, ...given });
  for (const note of notes) context.hint(note);
  for (const warning of warnings) context.warn(warning);
  const stays = `"${name}" is registered; reins hook show ${name} asks it for its tools`;
  const asked = () => untilInterrupted(context, stays, () => refreshed(context, name));
  const probed = context.invocation.flags.bool('probe') === false ? null : await asked();
  if (probed === 'interrupted') return 130;
  for (const note of probed?.hook?.notes ?? []) context.hint(note);
  if (context.globals.format !== 'text') await context.printJson(await client.showHook({ name }));
  else await context.print(`Registered hook "${name}"${probedText(probed)}.`);
  return 0;
};

type Refreshed = { readonly hook: HookView; readonly reason: null } | { readonly hook: null; readonly reason: string };

/** A service that cannot be reached is a result here: it is tried again when it is used. */
async function refreshed(context: Context, name: string): Promise<Refreshed> {
  try {
    return { hook: await (await context.client()).refreshHook({ name }), reason: null };
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'hook_error') {
      return { hook: null, reason: error.message.replace(/^hook "[^"]*": /, '').replace(/\.$/, '') };
    }
    throw error;
  }
}

function probedText(probed: Refreshed | null): string {
  if (probed === null) return '';
  if (probed.hook === null) return ` (not reachable now: ${probed.reason})`;
  return ` (${plural(probed.hook.tools.length, 'tool')})`;
}

const list: Handler = async (context) => {
  const hooks = await (await context.client()).listHooks({});
  if (context.globals.format !== 'text') {
    await context.printJson(hooks);
    return 0;
  }
  if (hooks.length === 0) {
    context.hint('no hook is registered; reins hook add <name> --url <url> registers one');
    return 0;
  }
  await context.printTable(
    [{ title: 'NAME' }, { title: 'URL', flexible: true }, { title: 'TIMEOUT' }, { title: 'TOOLS', align: 'right' }],
    hooks.map(({ name, url, timeout_ms, tools, state }) => [
      name,
      url,
      `${timeout_ms} ms`,
      state === 'idle' || state === 'unavailable' ? '' : String(tools.length),
    ]),
  );
  return 0;
};

const show: Handler = async (context) => {
  const name = nameOf(context);
  const client = await context.client();
  const before = await client.showHook({ name });
  const probed = await refreshed(context, name);
  const hook = probed.hook ?? (await client.showHook({ name }));
  if (context.globals.format !== 'text') {
    await context.printJson(hook);
    return 0;
  }
  for (const line of hookLines(hook)) await context.print(line);
  if (probed.hook === null) {
    const known = before.tools.length === 0 ? '' : '; the tools are those of the last time';
    context.hint(`not reachable now: ${probed.reason}${known}`);
  }
  return 0;
};

function hookLines(hook: HookView): readonly string[] {
  const names = (list: readonly string[]) => (list.length === 0 ? '-' : list.join(', '));
  return [
    `Name: ${hook.name}`,
    `URL: ${hook.url}${hook.allow_private ? ' (private addresses allowed)' : ''}`,
    `Description: ${hook.spec ?? `${hook.url}/openapi.json`}`,
    `Timeout: ${hook.timeout_ms} ms`,
    `Registered: ${hook.created_at}`,
    `Headers: ${names(hook.headers)}`,
    `Injected: ${names(hook.inject)}`,
    `State: ${hook.state}`,
    ...hook.notes.map((note) => `Note: ${note}`),
    `Tools: ${hook.tools.length}`,
    ...hook.tools.flatMap(({ tool, description, state, flags }) => [
      `  ${tool}${state === 'ready' ? '' : ` [${state}]`}${flags.length === 0 ? '' : ` (${flags.join('; ')})`}`,
      ...description
        .split('\n')
        .slice(0, 2)
        .filter((line) => line.trim() !== '')
        .map((line) => `      ${line.slice(0, 200)}`),
    ]),
    ...(hook.skipped.length === 0 ? [] : [`Left out: ${hook.skipped.length}`]),
    ...hook.skipped.map(({ operation, reason }) => `  ${operation}: ${reason}`),
    ...(hook.drift.length === 0 ? [] : [`To be accepted: ${hook.drift.length} (reins hook accept ${hook.name})`]),
    ...hook.drift.flatMap((one) => differenceLines(hook.name, one)).map((line) => `  ${line}`.trimEnd()),
  ];
}

const update: Handler = async (context) => {
  const name = nameOf(context);
  const given = fields(context);
  if (Object.values(given).every((value) => value === null)) {
    throw usage('nothing to change', [`reins hook update ${name} --timeout 20000`]);
  }
  const { hook, warnings, notes } = await (await context.client()).updateHook({ name, ...given });
  for (const note of notes) context.hint(note);
  for (const warning of warnings) context.warn(warning);
  if (context.globals.format !== 'text') await context.printJson(hook);
  else await context.print(`Updated hook "${name}".`);
  return 0;
};

const refresh: Handler = async (context) => {
  const name = nameOf(context);
  const hook = await (await context.client()).refreshHook({ name });
  if (context.globals.format !== 'text') await context.printJson(hook);
  else {
    const waiting = hook.drift.length;
    const note = waiting === 0 ? '' : `, ${waiting} to be accepted`;
    await context.print(`Hook "${name}": ${plural(hook.tools.length, 'tool')}${note}.`);
  }
  return 0;
};

/** What changed is looked at as it is now; where the service cannot be asked, as it was seen last. */
const accept: Handler = async (context) => {
  const name = nameOf(context);
  const client = await context.client();
  const probed = await refreshed(context, name);
  if (probed.hook === null) context.hint(`not reachable now: ${probed.reason}; this is what was seen last`);
  return acceptDefinitions(context, {
    command: 'hook',
    source: probed.hook ?? (await client.showHook({ name })),
    accept: (definition_sha256, tools) => client.acceptHook({ name, definition_sha256, tools: [...tools] }),
  });
};

const remove: Handler = async (context) => {
  const name = nameOf(context);
  await (await context.client()).removeHook({ name });
  if (context.globals.format !== 'text') await context.printJson({ removed: name });
  else await context.print(`Removed hook "${name}".`);
  return 0;
};

export const handlers = { add, list, show, update, refresh, accept, remove };
