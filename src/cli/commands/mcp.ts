import { usage } from '../../schema/errors.ts';
import { authTypes, type McpCheck, type McpServerView, transports } from '../../schema/mcp-server.ts';
import { parseUrl } from '../../text/parse-url.ts';
import { quoteAll } from '../../text/quote.ts';
import { plural } from '../../view/format.ts';
import { acceptDefinitions, differenceLines } from '../accept-definitions.ts';
import { confirmed } from '../confirm.ts';
import type { Context, Handler } from '../context.ts';
import { injectFlag } from '../inject-flag.ts';
import { readStdinText } from '../input.ts';
import { pairs } from '../pairs.ts';
import { untilInterrupted } from '../until-interrupted.ts';
import { readHeaders } from './backend.ts';

const nameOf = (context: Context) => context.invocation.words[0] ?? '';

const fields = async (context: Context) => {
  const { flags } = context.invocation;
  const token = flags.text('auth-token');
  if (token !== null && flags.has('auth-env')) throw usage('--auth-env and --auth-token exclude each other');
  if (token === '') throw usage('--auth-token is empty');
  if (token !== null && token !== '-') {
    context.warn(
      'a token on the command line shows in the process list; prefer --auth-env, or --auth-token - and stdin',
    );
  }
  const type = flags.text('auth-type');
  return {
    headers: flags.has('header') ? readHeaders(flags.list('header')) : null,
    inject: flags.has('inject') ? injectFlag(flags.list('inject')) : null,
    env: flags.has('env') ? envFlag(flags.list('env')) : null,
    auth_type: authTypes.find((one) => one === type) ?? null,
    auth_env: flags.text('auth-env'),
    auth_token: token === '-' ? await readStdinText(context, '--auth-token') : token,
    oauth_client_id: flags.text('oauth-client-id'),
    oauth_client_secret_env: flags.text('oauth-client-secret-env'),
    oauth_scopes: flags.text('oauth-scopes'),
    connect_timeout_ms: flags.number('connect-timeout'),
    call_timeout_ms: flags.number('timeout'),
  };
};

/** `--env NAME` passes the operator's own variable, `--env NAME=value` another; a single empty one clears the map. */
function envFlag(given: readonly string[]): Record<string, string | null> {
  if (given.length === 1 && given[0] === '') return {};
  return pairs(
    'env',
    given.map((text): [string, string | null] => {
      const at = text.indexOf('=');
      return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

/** `--args a,b`: split at commas; `\,` is a comma and `\\` a backslash. */
function splitArguments(text: string): readonly string[] {
  if (text === '') return [];
  const found = [''];
  for (const [part] of text.matchAll(/\\[,\\]|[\s\S]/g)) {
    if (part === ',') found.push('');
    else found[found.length - 1] += part.length === 2 ? part.slice(1) : part;
  }
  return found;
}

const add: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const name = nameOf(context);
  const url = flags.text('url') ?? words[1] ?? null;
  if (flags.has('url') && words[1] !== undefined) throw usage('the URL is given twice');
  if (url !== null && flags.has('command')) throw usage('a URL and --command exclude each other');
  const transport = flags.text('transport');
  const listed = flags.text('args');
  const client = await context.client();
  const { server, warnings } = await client.addMcpServer({
    name,
    transport: transports.find((one) => one === transport) ?? null,
    command: flags.text('command'),
    args: [...(listed === null ? [] : splitArguments(listed)), ...flags.list('arg')],
    cwd: flags.text('cwd'),
    url,
    pin_command: flags.bool('pin-command') === true,
    ...(await fields(context)),
  });
  for (const warning of warnings) context.warn(warning);
  const stays = `"${name}" is registered; reins mcp test ${name} asks it for its tools`;
  const asked = () => untilInterrupted(context, stays, () => client.checkMcpServer({ name }));
  const probed = flags.bool('probe') === false ? null : await asked();
  if (probed === 'interrupted') return 130;
  for (const notice of probed?.notices ?? []) context.warn(`${name}: ${notice}`);
  if (context.globals.format !== 'text') await context.printJson(probed?.server ?? server);
  else await context.print(`MCP server "${name}" added (${placeOf(server)})${probedText(probed)}.`);
  return 0;
};

const placeOf = ({ transport, command, url }: McpServerView): string => `${transport}: ${command ?? hostOf(url ?? '')}`;
const hostOf = (url: string): string => parseUrl(url)?.host ?? url;

function probedText(probed: McpCheck | null): string {
  if (probed === null) return '';
  if (probed.reachable) return `, ${plural(probed.tools, 'tool')}`;
  const sign = probed.server.state === 'needs_auth' ? `; reins mcp auth ${probed.server.name} signs in` : '';
  return `, not reachable now: ${probed.reason ?? 'no answer'}${sign}`;
}

const list: Handler = async (context) => {
  const servers = await (await context.client()).listMcpServers({});
  if (context.globals.format !== 'text') {
    await context.printJson(servers.map(shown));
    return 0;
  }
  if (servers.length === 0) {
    context.hint('no MCP server is registered; reins mcp add <name> <url> registers one');
    return 0;
  }
  await context.printTable(
    [
      { title: 'NAME' },
      { title: 'TRANSPORT' },
      { title: 'COMMAND/URL', flexible: true },
      { title: 'AUTH' },
      { title: 'STATE' },
    ],
    servers.map((server) => [
      server.name,
      server.transport,
      server.url ?? quoteAll([server.command ?? '', ...server.args]),
      authOf(server),
      server.drift.length > 0 && server.state === 'idle' ? `${server.drift.length} to accept` : server.state,
    ]),
  );
  return 0;
};

const authOf = ({ auth_type, token_source }: McpServerView): string =>
  auth_type === 'none' ? '' : auth_type === 'oauth' ? 'oauth' : `bearer (${token_source})`;

/** 05 §10.1: names are shown, values are not. */
function shown(server: McpServerView) {
  const masked = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '***']));
  const { env, headers, inject, ...rest } = server;
  return { ...rest, env: masked(env), headers: masked(headers), inject: masked(inject) };
}

const show: Handler = async (context) => {
  const server = shown(await (await context.client()).showMcpServer({ name: nameOf(context) }));
  if (context.globals.format !== 'text') await context.printJson(server);
  else await context.print(JSON.stringify(server, null, 2));
  return 0;
};

const identityFlags = ['transport', 'command', 'args', 'url'] as const;

const update: Handler = async (context) => {
  const name = nameOf(context);
  const { flags } = context.invocation;
  const fixed = identityFlags.find((flag) => flags.has(flag));
  if (fixed !== undefined) {
    throw usage(`--${fixed} is what the server is; remove it and add another`, [
      `reins mcp remove ${name}`,
      `reins mcp add ${name} …`,
    ]);
  }
  const given = await fields(context);
  if (Object.values(given).every((value) => value === null)) {
    throw usage('nothing to change', [`reins mcp update ${name} --timeout 2m`]);
  }
  const { server, warnings } = await (await context.client()).updateMcpServer({ name, ...given });
  for (const warning of warnings) context.warn(warning);
  if (context.globals.format !== 'text') await context.printJson(shown(server));
  else await context.print(`MCP server "${name}" updated.`);
  return 0;
};

const test: Handler = async (context) => {
  const name = nameOf(context);
  const found = await (await context.client()).checkMcpServer({ name });
  for (const notice of found.notices) context.warn(`${name}: ${notice}`);
  if (context.globals.format !== 'text') await context.printJson({ ...found, server: shown(found.server) });
  else if (found.reachable) {
    const times = `connected in ${Math.round(found.connect_ms)} ms, listed in ${Math.round(found.list_ms)} ms`;
    const waiting = found.server.drift.length;
    const drift = waiting === 0 ? '' : `, ${waiting} to accept (reins mcp accept ${name})`;
    await context.print(`${name}: protocol ${found.protocol ?? '?'}, ${plural(found.tools, 'tool')}${drift}; ${times}`);
  } else {
    const lines = found.server.stderr.map((line) => `  ${context.safe(line.slice(0, 500))}\n`).join('');
    context.terminal.err(`reins: ${context.safe(`MCP server "${name}": ${found.reason ?? 'no answer'}`)}\n${lines}`);
  }
  return found.reachable ? 0 : 7;
};

/** The definitions that wait, as the server gives them now; where it cannot be asked, as they were seen last. */
const looked = async (context: Context): Promise<McpServerView> => {
  const found = await (await context.client()).checkMcpServer({ name: nameOf(context) });
  if (!found.reachable) context.hint(`not reachable now: ${found.reason ?? 'no answer'}; this is what was seen last`);
  return found.server;
};

const accept: Handler = async (context) => {
  const name = nameOf(context);
  const client = await context.client();
  const before = await client.showMcpServer({ name });
  // A program that has changed is not started before somebody has said yes to it.
  if (before.command_changed) return acceptCommand(context, before);
  return acceptDefinitions(context, {
    command: 'mcp',
    source: await looked(context),
    accept: (definition_sha256, tools) => client.acceptMcpServer({ name, definition_sha256, tools: [...tools] }),
  });
};

async function acceptCommand(context: Context, { name, command, args }: McpServerView): Promise<number> {
  const line = quoteAll([command ?? '', ...args]);
  context.terminal.err(`${context.safe(`The program of "${name}" is not one that was accepted here: ${line}`)}\n`);
  if (context.invocation.flags.bool('yes') !== true) {
    if (!context.terminal.interactive()) {
      throw usage('nothing is accepted without a terminal: add --yes once you have looked', [
        `reins mcp accept ${name} --yes`,
      ]);
    }
    if (!(await confirmed(context, 'Accept this program? [y] yes, any other key no'))) {
      context.hint('Nothing was accepted.');
      return 1;
    }
  }
  await (await context.client()).acceptMcpServer({ name, definition_sha256: null });
  context.hint(`Its tools are looked at next: reins mcp diff ${name}`);
  if (context.globals.format === 'text') await context.print(`Accepted the program of "${name}".`);
  else await context.printJson({ accepted: [], command: true });
  return 0;
}

const diff: Handler = async (context) => {
  const server = await looked(context);
  if (context.globals.format !== 'text') await context.printJson(server.drift);
  else if (server.drift.length === 0) await context.print(`"${server.name}": nothing has changed.`);
  else for (const one of server.drift) await context.print(differenceLines(server.name, one).join('\n'));
  return 0;
};

const remove: Handler = async (context) => {
  const name = nameOf(context);
  await (await context.client()).removeMcpServer({ name });
  if (context.globals.format !== 'text') await context.printJson({ removed: name });
  else await context.print(`Removed MCP server "${name}".`);
  return 0;
};

export const handlers = { add, list, show, update, test, accept, diff, remove };
